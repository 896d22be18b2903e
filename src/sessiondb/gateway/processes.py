"""The gateway processes of a home: each has a file `gateway/<pid>.json` that tells where its health is asked."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import urlopen

_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    health: str
    started_at: float
    # Tells it from a later process that the system gave the same number.
    birth: str | None = None


def announce(home: str, process: Process) -> Path:
    file = _file(home, process)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_suffix(".tmp")
    draft.write_text(json.dumps(asdict(process)), "utf-8")
    os.replace(draft, file)
    return file


def known(home: str) -> Iterator[Process]:
    """The processes that run; files of those that died are removed."""
    for file in sorted((Path(home) / "gateway").glob("*.json")):
        process = _read(file)
        if process is not None and _is_it(process):
            yield process
        else:
            file.unlink(missing_ok=True)


def _read(file: Path) -> Process | None:
    try:
        return Process(**json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def birth(pid: int) -> str | None:
    """When a process began, in ticks since the start of this machine; None where the system does not tell."""
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()}:{ticks}"
    except (OSError, IndexError):
        return None


def _is_it(process: Process) -> bool:
    found = birth(process.pid)
    return is_there(process.pid) and (found is None or process.birth in (None, found))


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def health(process: Process) -> dict[str, Any] | None:
    """What a process says of itself; None when it says nothing, or somebody else answers there."""
    try:
        with urlopen(process.health, timeout=_TIMEOUT) as response:
            told = json.load(response)
    except (OSError, HTTPException, ValueError):
        return None
    return told if isinstance(told, dict) and told.get("pid") == process.pid else None


def listens(home: str, place: str) -> bool:
    """Whether a gateway of this home takes webhooks at the address already."""
    told = [health(process) or {} for process in known(home)]
    return any(each.get("listen") == place for each in told)


def stop(home: str, found: Iterable[Process], timeout: float) -> list[Process]:
    """Ask processes to end, all at once, and wait; those that are still there.

    Nobody is asked who does not say that it is a gateway.
    """
    left = [process for process in found if _is_it(process)]
    for process in left:
        if health(process) is not None:
            os.kill(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + timeout
    while any(_runs(home, process) for process in left) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [process for process in left if _runs(home, process)]


def _runs(home: str, process: Process) -> bool:
    # It removes its file when all is done, and may then wait for its parent to notice.
    return _is_it(process) and _file(home, process).exists()


def _file(home: str, process: Process) -> Path:
    return Path(home) / "gateway" / f"{process.pid}.json"
