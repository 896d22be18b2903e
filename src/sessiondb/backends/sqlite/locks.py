"""Open-file-description locks: owned by a descriptor, not by the process.

Unlike POSIX locks they survive that the program opens and closes the same file elsewhere, and the kernel queues those
who wait. Where a platform has none, `AVAILABLE` is False and `flock` takes the gate's part; there is no guard then.
"""

from __future__ import annotations

import fcntl
import os
import struct
from functools import lru_cache

_SETLK = getattr(fcntl, "F_OFD_SETLK", 0)
_GETLK = getattr(fcntl, "F_OFD_GETLK", 0)
_SETLKW = getattr(fcntl, "F_OFD_SETLKW", 0)
AVAILABLE = bool(_SETLK)


@lru_cache(16)
def _request(kind: int, start: int, length: int) -> bytes:
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0)


def try_lock(descriptor: int, kind: int = fcntl.F_WRLCK, start: int = 0, length: int = 0) -> bool:
    """Take the lock if it is free; False when somebody else has it."""
    try:
        if AVAILABLE:
            fcntl.fcntl(descriptor, _SETLK, _request(kind, start, length))
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def is_free(descriptor: int, start: int, length: int) -> bool:
    """Whether the lock could be had by somebody who may write; asking takes no right to. Raises OSError."""
    if not AVAILABLE:
        raise OSError("no open-file-description locks to ask about")
    answer = fcntl.fcntl(descriptor, _GETLK, _request(fcntl.F_WRLCK, start, length))
    return bool(struct.unpack_from("h", answer)[0] == fcntl.F_UNLCK)


def wait_lock(descriptor: int) -> None:
    """Wait in the kernel's queue until the lock is ours."""
    if AVAILABLE:
        fcntl.fcntl(descriptor, _SETLKW, _request(fcntl.F_WRLCK, 0, 0))
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def unlock(descriptor: int, start: int = 0, length: int = 0) -> None:
    if AVAILABLE:
        fcntl.fcntl(descriptor, _SETLK, _request(fcntl.F_UNLCK, start, length))
    else:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
