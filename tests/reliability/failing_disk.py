"""A disk that fails on command: a VFS between SQLite and the file system that counts writes and syncs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import apsw

NAME = "failing-disk"


def _no_space(file: _File, data: bytes, offset: int) -> None:
    raise _coded(apsw.FullError, apsw.SQLITE_FULL)


def _io_error(file: _File, data: bytes, offset: int) -> None:
    raise _coded(apsw.IOError, apsw.SQLITE_IOERR_WRITE)


def _short_write(file: _File, data: bytes, offset: int) -> None:
    """Half of it reaches the disk."""
    file.really_write(data[: len(data) // 2], offset)
    raise _coded(apsw.FullError, apsw.SQLITE_FULL)


def _kill(file: _File, data: bytes, offset: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _failed_sync(file: _File) -> None:
    raise _coded(apsw.IOError, apsw.SQLITE_IOERR_FSYNC)


def _coded(kind: type[apsw.Error], code: int) -> apsw.Error:
    error = kind("injected")
    error.extendedresult = code  # type: ignore[attr-defined]
    return error


# What happens instead of a write; a kind that is not here leaves writes alone.
WRITES: dict[str, Callable[[_File, bytes, int], None]] = {
    "no space": _no_space,
    "I/O error": _io_error,
    "short write": _short_write,
    "kill": _kill,
}
SYNCS: dict[str, Callable[[_File], None]] = {
    "I/O error": _failed_sync,
    "failed sync": _failed_sync,
    "kill": lambda file: _kill(file, b"", 0),
}


class Disk(apsw.VFS):
    """Healthy until `fail` is called; counts the calls that could have failed."""

    def __init__(self) -> None:
        self.kind = ""
        self.calls = 0
        self.faults = 0
        self._first = 0
        self._lasting = False
        super().__init__(NAME, "unix")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _File(self, name, flags)

    def fail(self, kind: str, call: int, *, lasting: bool) -> None:
        """Fail at that call from now on, counted from 1; and at all later ones when `lasting`."""
        self.kind, self._first, self._lasting = kind, call, lasting
        self.calls = self.faults = 0

    def heal(self) -> None:
        self.kind = ""

    def is_due(self, faults: dict[str, Any]) -> bool:
        if self.kind not in faults:
            return False
        self.calls += 1
        due = self.calls == self._first or (self._lasting and self.calls > self._first)
        self.faults += due
        return due


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._disk.is_due(WRITES):
            WRITES[self._disk.kind](self, data, offset)
        super().xWrite(data, offset)

    def really_write(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        if self._disk.is_due(WRITES):
            WRITES[self._disk.kind](self, b"", 0)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        if self._disk.is_due(SYNCS):
            SYNCS[self._disk.kind](self)
        super().xSync(flags)
