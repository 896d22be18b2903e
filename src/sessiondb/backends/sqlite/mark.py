"""What the lock file remembers: which store lies here, and whether its last writer left a WAL behind.

A WAL that is deleted after a crash takes acknowledged messages along, and what remains looks complete. The lock file
outlives crashes and is nobody else's, so it can tell: "open" without a WAL means that one was taken away. Nothing is
synced, and two processes may cross each other: a mark is a reason to look closer, never a proof.
"""

from __future__ import annotations

import os
import re

from ...values import dataclass
from . import files

_LINE = re.compile(rb"sessiondb (\S+) (open  |closed)\n")


@dataclass(frozen=True, slots=True)
class Mark:
    store_id: str
    open: bool


def read(path: str) -> Mark | None:
    """The mark beside a store; None where there is none."""
    try:
        with open(files.lock_path(path), "rb") as file:
            found = _LINE.match(file.read(200))
    except OSError:
        return None
    return None if found is None else Mark(found[1].decode("ascii", "replace"), found[2] != b"closed")


def write(path: str, store_id: str, *, is_open: bool) -> None:
    descriptor = os.open(files.lock_path(path), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(descriptor, f"sessiondb {store_id} {'open  ' if is_open else 'closed'}\n".encode(), 0)
    finally:
        os.close(descriptor)


def close(path: str) -> None:
    """Say that the last writer left nothing behind, if that is so."""
    mark = read(path)
    if mark is not None and mark.open and not os.path.exists(path + "-wal"):
        write(path, mark.store_id, is_open=False)
