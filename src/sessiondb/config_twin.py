"""config.yaml once more, as JSON: reading YAML takes longer than most commands.

The twin lies beside the file, for its owner only, and holds what was parsed before any `${VAR}` is replaced. It counts
only while the file is the one it was made from: same inode, size, and times of change. It may be deleted or damaged at
any time, and where it cannot be written the YAML is read.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import Any

NAME = ".config.yaml.json"
VERSION = 1
# A file changed just now may change again without its time showing it.
SETTLED = 2_000_000_000


def read(place: str, of: os.stat_result) -> Any | None:
    """The values of the file in this state; None when the twin does not know it."""
    try:
        with open(_path(place), "rb") as stream:
            twin = json.loads(stream.read())
    except (OSError, ValueError):
        return None
    known = isinstance(twin, dict) and twin.get("of") == _state(of) and isinstance(twin.get("values"), dict)
    return twin["values"] if known else None


def write(place: str, of: os.stat_result, values: Any) -> None:
    """Keep the values of the file in this state, where that is possible."""
    values = {} if values is None else values
    if not isinstance(values, dict) or time.time_ns() - max(of.st_mtime_ns, of.st_ctime_ns) < SETTLED:
        return
    try:
        text = json.dumps({"of": _state(of), "values": values})
        if json.loads(text)["values"] != values:
            return
    except (TypeError, ValueError):
        # Dates, numbers as keys and such: only YAML can tell them.
        return
    # A home that is read-only or full: the next command reads the YAML again.
    with suppress(OSError):
        _replace(_path(place), text)


def _replace(path: str, text: str) -> None:
    unfinished = f"{path}.{os.getpid()}"
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as stream:
            stream.write(text)
        os.replace(unfinished, path)
    except OSError:
        with suppress(OSError):
            os.unlink(unfinished)
        raise


def _path(place: str) -> str:
    return os.path.join(os.path.dirname(place), NAME)


def _state(of: os.stat_result) -> list[int]:
    return [VERSION, of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns]
