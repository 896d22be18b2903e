"""A note beside an index file of how it looked when one of us last wrote to it.

Page checksums find torn and rotten pages, not whole files put back from yesterday or replaced half: each of their pages
is sound. So whoever writes notes size and time of the file afterwards, and nobody believes a file that looks otherwise.
A writer who dies in the middle leaves the note open; SQLite's journal has put that file right again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .. import locks

OPEN = b"being written"
LENGTH = 64
# A commit takes milliseconds.
PATIENCE = 1.0


class InUse(Exception):
    """Another process is writing for longer than a commit may take."""


def path_of(index_path: str) -> str:
    return index_path.removesuffix(".db") + ".seal"


class Note:
    """The note of a file that is open, kept open with it: asked before and after every search.

    Only a yes is final; a no is for `intact` to decide.
    """

    def __init__(self, index_path: str) -> None:
        self._path = index_path
        try:
            self._descriptor = os.open(path_of(index_path), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._descriptor = -1

    def is_kept(self) -> bool:
        return self._is_there() and _text(self._descriptor) == _look(self._path)

    def _is_there(self) -> bool:
        return self._descriptor >= 0 and os.fstat(self._descriptor).st_nlink > 0

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def intact(index_path: str, *, read_only: bool = False) -> bool:
    """Whether the file looks as one of us left it; ask while reading from it, so that nobody writes meanwhile."""
    if _noted(index_path) == _look(index_path):
        return True
    if read_only:
        return False
    with _locked(index_path) as descriptor:
        if _text(descriptor) == OPEN:
            _note(descriptor, _look(index_path))
        return _text(descriptor) == _look(index_path)


@contextmanager
def broken(index_path: str) -> Iterator[None]:
    """While the file is written: the note is open, and closed again with the new look."""
    with _locked(index_path) as descriptor:
        _note(descriptor, OPEN)
        yield
        _note(descriptor, _look(index_path))


@contextmanager
def _locked(index_path: str) -> Iterator[int]:
    descriptor = os.open(path_of(index_path), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + PATIENCE
        while not locks.try_lock(descriptor):
            if time.monotonic() >= until:
                raise InUse(f"{index_path} is being written by another process")
            time.sleep(0.0005)
        yield descriptor
    finally:
        os.close(descriptor)


def _noted(index_path: str) -> bytes:
    try:
        descriptor = os.open(path_of(index_path), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    try:
        return _text(descriptor)
    finally:
        os.close(descriptor)


def _look(index_path: str) -> bytes:
    try:
        found = os.stat(index_path)
    except FileNotFoundError:
        return b"gone"
    return f"{found.st_size} {found.st_mtime_ns}".encode()


def _text(descriptor: int) -> bytes:
    return os.pread(descriptor, LENGTH, 0).rstrip()


def _note(descriptor: int, text: bytes) -> None:
    # Always as long: one write replaces the other whole.
    os.pwrite(descriptor, text.ljust(LENGTH), 0)
