"""The guard: keeps other processes from deleting the live WAL.

SQLite's locks belong to the process: when the program around us opens and closes the data file by hand, all of them
are gone, and the next process that closes the file believes it is the last one and deletes the WAL that we still
write to. A read lock on SQLite's shared range, owned by a descriptor of our own, cannot be lost that way.

It is taken only in WAL mode (in rollback mode it would block every write). At close it is unlocked first, so that our
own last connection can tidy up, and the descriptor is closed after that connection: closing it earlier would drop
SQLite's locks.
"""

from __future__ import annotations

import fcntl
import os

from . import locks

SHARED_FIRST = 0x40000002
SHARED_SIZE = 510


class Guard:
    """One per file and process; engines that share the file share it."""

    def __init__(self, path: str) -> None:
        self.users = 0
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.held = locks.AVAILABLE and locks.try_lock(self._descriptor, fcntl.F_RDLCK, SHARED_FIRST, SHARED_SIZE)

    def unlock(self) -> None:
        if self.held:
            locks.unlock(self._descriptor, SHARED_FIRST, SHARED_SIZE)
            self.held = False

    def close(self) -> None:
        os.close(self._descriptor)

    def forget(self) -> None:
        """In a forked child: the lock is the parent's; only the copy of the descriptor is ours."""
        os.close(self._descriptor)


def in_use(path: str) -> bool:
    """Whether any process has the file open through SQLite, this one included; for offline work only.

    Never call it while this process has the store open: closing the descriptor would drop SQLite's locks.
    """
    writable = os.access(path, os.W_OK)
    descriptor = os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC)
    try:
        if not writable:
            return not locks.is_free(descriptor, SHARED_FIRST, SHARED_SIZE)
        return not locks.try_lock(descriptor, fcntl.F_WRLCK, SHARED_FIRST, SHARED_SIZE)
    finally:
        os.close(descriptor)
