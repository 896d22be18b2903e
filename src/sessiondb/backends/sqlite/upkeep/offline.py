"""Who has a store open; looking at one without touching it; keeping everybody out while its file is exchanged."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from .... import errors
from ....upkeep import Pages
from .. import engine, files, guard, locks
from ..connection import connect, translated

SIDECARS = ("-wal", "-shm", "-journal")
# SQLite's pending, reserved and shared bytes.
_LOCK_FIRST, _LOCK_SIZE = 0x40000000, 512
_PATIENCE_MS = 5000


def held_here(path: str) -> bool:
    """Whether this process has the store open; its files must not be opened by hand then."""
    return any(key[:2] == files.identity(path) for key in engine.engines)


def in_use(path: str) -> bool:
    """Whether anybody has the store open through SQLite; True when that cannot be told."""
    # Nobody in this process begins to open it meanwhile: the descriptor that is closed here would drop his locks.
    with engine.registry_lock():
        if held_here(path):
            return True
        try:
            return guard.in_use(path)
        except OSError:
            return True


def holders(path: str) -> list[int]:
    """The other processes that have the file open, idle ones included, where the system tells."""
    real = os.path.realpath(path)
    own = os.getpid()
    return [pid for pid in map(int, filter(str.isdigit, _entries("/proc"))) if pid != own and _holds(pid, real)]


def _entries(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _holds(pid: int, real: str) -> bool:
    directory = f"/proc/{pid}/fd"
    return any(_target(f"{directory}/{name}") == real for name in _entries(directory))


def _target(link: str) -> str | None:
    try:
        return os.readlink(link)
    except OSError:
        return None


def require_unused(path: str, what: str) -> None:
    """Raise Busy when anybody has the store open."""
    others = holders(path)
    if others or in_use(path):
        who = f"process {', '.join(map(str, others))}" if others else "this or another process"
        raise errors.Busy(f"{path} is open in {who}; stop it, then {what}")


@contextmanager
def closed_to_all(path: str, what: str) -> Iterator[None]:
    """Keep SQLite out of a store that nobody has open, in this process too; raises Busy when somebody has."""
    require_unused(path, what)
    if not os.access(path, os.W_OK):
        # Who may not write cannot lock either; then nobody else is likely to write.
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if not locks.try_lock(descriptor, fcntl.F_WRLCK, _LOCK_FIRST, _LOCK_SIZE):
            raise errors.Busy(f"{path} was opened just now; stop that program, then {what}")
        yield
    finally:
        os.close(descriptor)


@contextmanager
def exclusive(path: str, what: str) -> Iterator[None]:
    """The same, with those kept out who are about to create or upgrade; for exchanging the file."""
    with files.creation_lock(path, 0.0), closed_to_all(path, what):
        yield


@contextmanager
def reading(path: str) -> Iterator[apsw.Connection]:
    """A connection like any reader's, to a store at work or not."""
    apart = not os.access(os.path.dirname(path), os.W_OK) and not os.path.exists(path + "-shm")
    with _closing(connect(path, read_only=True, immutable=apart)) as connection:
        connection.set_busy_timeout(_PATIENCE_MS)
        yield connection


@contextmanager
def looking(path: str) -> Iterator[apsw.Connection]:
    """A connection that reads a store, or a file that may be one, and leaves it as it is.

    Without sidecars the file is read as it lies. A WAL or journal that a crash left is applied to a private copy, so
    that it can be looked at again. A store in use is read like any other reader does.
    """
    if in_use(path):
        with reading(path) as connection:
            yield connection
    elif not has_log(path):
        with _closing(connect(path, read_only=True, immutable=True)) as connection:
            yield connection
    else:
        with tempfile.TemporaryDirectory(prefix="sessiondb-look-") as directory:
            copy = _copied(path, directory)
            with _closing(connect(copy)) as connection:
                yield connection


@contextmanager
def _closing(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    try:
        yield connection
    finally:
        connection.close()


def _copied(path: str, directory: str) -> str:
    require_room(directory, sum(size(path + suffix) for suffix in ("", "-wal", "-journal")))
    copy = os.path.join(directory, "copy.db")
    for suffix in ("", "-wal", "-journal"):
        if os.path.exists(path + suffix):
            shutil.copyfile(path + suffix, copy + suffix)
    return copy


def require_room(directory: str, needed: int) -> None:
    """Raise DiskFull before anything is written rather than in the middle of it."""
    free = shutil.disk_usage(directory).free
    # A little more than the data: the journal of the copy, and not to fill the disk to the brim.
    wanted = needed + needed // 20 + (1 << 20)
    if free < wanted:
        raise errors.DiskFull(
            f"{directory} has {free:,} bytes free, {wanted:,} are needed; free some space or choose another place"
        )


def sync(path: str) -> None:
    """Make a file durable, and its name."""
    for name, flags in ((path, os.O_RDONLY), (os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)):
        descriptor = os.open(name, flags | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def discard(path: str) -> None:
    """Remove a draft with everything beside it."""
    for suffix in ("", *SIDECARS, ".lock"):
        if os.path.lexists(path + suffix):
            os.unlink(path + suffix)


def has_log(path: str) -> bool:
    """Whether a WAL or journal lies beside the file that is part of the truth."""
    return any(size(path + suffix) for suffix in ("-wal", "-journal"))


def size(path: str) -> int:
    """Bytes of a file; 0 when there is none."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def copy_database(
    source: apsw.Connection, target: str, path: str, pages: int = 256, copied: Pages | None = None
) -> None:
    """Copy a database page by page into a new file, in steps; the copy is one file without sidecars.

    A snapshot that is held in WAL mode keeps the copy from starting anew whenever somebody writes, and hinders no one.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    try:
        snapshot = source.pragma("journal_mode") == "wal"
        if snapshot:
            source.execute("BEGIN")
            source.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        with _closing(connect(target, vfs=source.open_vfs)) as copy:
            with copy.backup("main", source, "main") as steps:
                while not steps.done:
                    steps.step(pages)
                    if copied is not None:
                        copied(steps.page_count - steps.remaining, steps.page_count)
            copy.pragma("journal_mode", "delete")
        if snapshot:
            source.execute("ROLLBACK")
    except apsw.Error as exc:
        raise translated(exc, path) from exc
