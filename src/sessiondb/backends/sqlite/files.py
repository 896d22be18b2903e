"""The store's files: where they are made, who may read them, and the lock beside them.

The data file itself is never opened here once it has content: closing any descriptor of it would drop the locks that
SQLite holds for this process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ... import errors
from . import locks


def lock_path(path: str) -> str:
    return path + ".lock"


def prepare(path: str) -> bool:
    """Make the directory and an empty file, private to the user, and say so; a file that is there stays as it is."""
    directory = os.path.dirname(path)
    if os.path.isdir(path):
        raise is_directory(path)
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        return True
    except FileExistsError as exc:
        if not os.path.isdir(directory):
            raise errors.Invalid(f"{path} cannot be created: {directory} is not a directory") from exc
        if not os.path.isfile(path):
            raise errors.Invalid(f"{path} cannot hold a database: it is no regular file") from exc
        return False
    except NotADirectoryError as exc:
        raise errors.Invalid(f"{path} cannot be created: {directory} is not a directory") from exc
    except PermissionError as exc:
        raise errors.Unavailable(f"no permission to create {path}; choose another with --db or SESSIONDB_HOME") from exc
    except OSError as exc:
        raise errors.Unavailable(f"{path} cannot be created: {exc.strerror}") from exc


def is_directory(path: str) -> errors.Invalid:
    return errors.Invalid(f"{path} is a directory; give the path of a file in it, such as {path}/state.db")


def identity(path: str) -> tuple[int, int]:
    """Device and inode: two spellings of a path are one file."""
    found = os.stat(path)
    return found.st_dev, found.st_ino


def size(path: str) -> int:
    """In bytes; 0 where there is none."""
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


@contextmanager
def creation_lock(path: str, deadline: float) -> Iterator[None]:
    """One process at a time creates or upgrades a store; raises Busy at the deadline."""
    descriptor = os.open(lock_path(path), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        _take(descriptor, path, time.monotonic() + deadline)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: str, until: float) -> None:
    while not locks.try_lock(descriptor):
        if time.monotonic() >= until:
            raise errors.Busy(f"{path} is being created or upgraded by another process; try again")
        time.sleep(0.005)


def is_default_home(path: str) -> bool:
    return os.path.dirname(path) == os.path.expanduser("~/.sessiondb")
