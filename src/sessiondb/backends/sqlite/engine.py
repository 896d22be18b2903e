"""One engine per process and file: a writer behind the gate, a bounded pool of readers, the guard.

All handles of a process share the engine of their file, so that a program never waits for itself.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from ... import errors
from ...sql.driver import Tx
from ...values import dataclass
from . import files
from .connection import connect, translated, vfs_of
from .crash import kill_point
from .gate import Gate
from .guard import Guard
from .readers import Readers
from .writer import Writer

if TYPE_CHECKING:
    from .index.background import Background
    from .index.searcher import Searcher

R = TypeVar("R")

CHECKPOINT_EVERY = 50
# A process that writes so often lives long enough to keep the index for all.
INDEXED_AFTER = 200
# Beyond this a checkpoint also asks to start the WAL anew, for which it may wait a moment for readers.
LARGE_WAL_BYTES = 16 * 1024 * 1024
RESTART_WAIT_MS = 50


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is opened; `gate` and `guard` are switched off only to show what they are for."""

    read_only: bool = False
    upgrade: bool = True
    synchronous: str = "FULL"
    deadline: float = 30.0
    readers: int = 4
    gate: bool = True
    guard: bool = True


class Engine:
    """The connections of one file, shared by all handles of this process."""

    def __init__(self, path: str, options: Options) -> None:
        self.path = path
        self.options = options
        self.handles = 0
        self.guard: Guard | None = None
        self.writer: Writer | None = None
        self._checkpointed = 0
        self._searcher: Searcher | None = None
        self._background: Background | None = None
        self._search_lock = threading.Lock()
        self._closing = False
        self._open()

    # --- connections ---

    def _open(self) -> None:
        self._pid = os.getpid()
        self.vfs = vfs_of(self.path)
        self.readers = Readers(self.path, self.options.readers, self._open_reader)
        try:
            self.writer = None if self.options.read_only else self._open_writer()
            if self.options.guard and self._in_wal_mode():
                self.guard = _guarded(self.path)
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def _open_writer(self) -> Writer:
        connection = connect(self.path, vfs=self.vfs)
        connection.execute(f"PRAGMA synchronous = {self.options.synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        # Checkpoints are ours, every so many writes; none in the middle of somebody's commit.
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        gate = Gate(files.lock_path(self.path)) if self.options.gate else None
        # From here on the writer waits by itself, as long as its caller's deadline allows.
        connection.set_busy_timeout(0)
        return Writer(connection, gate, self.path)

    def _in_wal_mode(self) -> bool:
        if self.writer is not None:
            return bool(self.writer.connection.pragma("journal_mode") == "wal")
        # A reader makes the WAL of a file that nobody has open, and needs the guard as much as a writer.
        return not self.is_immutable() and self.readers.read(_journal_mode) == "wal"

    def _open_reader(self) -> apsw.Connection:
        return connect(self.path, read_only=True, immutable=self.is_immutable(), vfs=self.vfs)

    def is_immutable(self) -> bool:
        """A file in a directory we cannot write to has no shared memory; nobody else writes there either."""
        shared = os.access(os.path.dirname(self.path), os.W_OK) or os.path.exists(self.path + "-shm")
        return self.options.read_only and not shared

    # --- transactions ---

    def read(self, work: Callable[[Tx], R]) -> R:
        if self._pid != os.getpid():
            self._open_after_fork()
        return self.readers.read(work)

    def write(self, work: Callable[[Tx], R], deadline: float | None = None) -> R:
        if self._pid != os.getpid():
            self._open_after_fork()
        if self.writer is None:
            raise errors.NotSupported(f"{self.path} was opened read-only; open it without read_only to write")
        patience = self.options.deadline if deadline is None else deadline
        return self.writer.write(work, patience, self._checkpoint_when_due)

    def _checkpoint_when_due(self) -> None:
        assert self.writer is not None
        if self.writer.jobs - self._checkpointed >= CHECKPOINT_EVERY:
            self._checkpointed = self.writer.jobs
            self.checkpoint(self.writer.connection)
            if self.writer.jobs >= INDEXED_AFTER:
                self.index_in_background()

    def checkpoint(self, connection: apsw.Connection) -> None:
        # PASSIVE never waits for readers: a stuck browser must not stall the gateway.
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            if files.size(self.path + "-wal") > LARGE_WAL_BYTES:
                self._restart_wal(connection)
        except apsw.Error as exc:
            # The messages are safe in the WAL; a disk that is full now may have room at the next checkpoint.
            if not isinstance(exc, apsw.BusyError | apsw.LockedError | apsw.FullError | apsw.IOError):
                raise translated(exc, self.path) from exc
        kill_point("after checkpoint")

    def _restart_wal(self, connection: apsw.Connection) -> None:
        connection.set_busy_timeout(RESTART_WAIT_MS)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
        finally:
            connection.set_busy_timeout(0)

    # --- search ---

    @property
    def has_searcher(self) -> bool:
        return self._searcher is not None

    def searcher(self) -> Searcher:
        """The index of this store, opened when first asked."""
        if self._searcher is None:
            # Outside the lock: whoever appends takes it to wake the thread, and waits for no module of search.
            from .index.searcher import Searcher

            with self._search_lock:
                if self._searcher is None:
                    self._searcher = Searcher(self)
        return self._searcher

    def index_in_background(self) -> None:
        """Let a thread bring the index up to date while nobody writes."""
        with self._search_lock:
            if self._closing:
                return
            if self._background is None:
                from .index.background import Background

                self._background = Background(self)
            self._background.wake()

    # --- facts ---

    def facts(self) -> dict[str, Any]:
        writer = self.writer
        return {
            "guard": bool(self.guard and self.guard.held),
            "gate": bool(writer and writer.gate),
            "synchronous": self.options.synchronous,
            "index_lag": None if self._searcher is None else self._searcher.lag,
            "last_commit_age": None
            if writer is None or writer.last_commit is None
            else time.monotonic() - writer.last_commit,
        }

    # --- life ---

    def close(self) -> None:
        if self._pid != os.getpid():
            # A forked child that never used the store: everything is the parent's.
            return
        with self._search_lock:
            self._closing = True
        if self._background is not None:
            self._background.stop()
        if self._searcher is not None:
            self._searcher.close()
        self.readers.close()
        if self.writer is not None:
            self.writer.retire(self.options.deadline)
        last = _released(self.guard)
        if last is not None:
            # Unlocked first, so that our last connection may tidy up; closed after it, see guard.py.
            last.unlock()
        if self.writer is not None:
            self.writer.connection.close()
            if self.writer.gate is not None:
                self.writer.gate.close()
        if last is not None:
            last.close()

    def _open_after_fork(self) -> None:
        with _registry:
            if self._pid != os.getpid():
                self._open()

    def forget(self) -> None:
        """In a forked child: drop what belongs to the parent without closing or unlocking it."""
        _inherited.append((self.writer and self.writer.connection, self.readers.connections(), self._searcher))
        self._searcher, self._background, self._search_lock = None, None, threading.Lock()
        if self.writer is not None and self.writer.gate is not None:
            self.writer.gate.forget()


engines: dict[tuple[int, int, bool], Engine] = {}
_guards: dict[tuple[int, int], Guard] = {}
_registry = threading.RLock()
# Connections of the parent process: closing them would checkpoint and unlock in its name.
_inherited: list[object] = []


def _guarded(path: str) -> Guard:
    with _registry:
        key = files.identity(path)
        guard = _guards.get(key)
        if guard is None:
            guard = _guards[key] = Guard(path)
        guard.users += 1
        return guard


def _released(guard: Guard | None) -> Guard | None:
    """Give up one use of a guard; the guard itself when that was the last."""
    if guard is None:
        return None
    with _registry:
        guard.users -= 1
        if guard.users:
            return None
        for key in [key for key, known in _guards.items() if known is guard]:
            del _guards[key]
        return guard


def registry_lock() -> threading.RLock:
    return _registry


def _after_fork_in_child() -> None:
    global _registry
    _registry = threading.RLock()
    for engine in engines.values():
        engine.forget()
    for guard in _guards.values():
        guard.forget()
    _guards.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)


def _journal_mode(tx: Tx) -> object:
    found = tx.row("PRAGMA journal_mode")
    return found[0] if found else None
