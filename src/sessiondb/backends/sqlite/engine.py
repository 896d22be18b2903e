"""One engine per process and file: one writer connection, a bounded pool of readers.

All handles of a process share the engine of their file, so that a program never waits for itself.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import apsw

from ... import errors
from ...sql.driver import Tx
from . import files, schema
from .connection import SQLiteTx, connect, translated
from .crash import kill_point

R = TypeVar("R")

# Writers that wait the same time collide again: spread them.
RETRY_MIN, RETRY_MAX = 0.020, 0.150
CHECKPOINT_EVERY = 50


@dataclass(frozen=True, slots=True)
class Options:
    read_only: bool = False
    upgrade: bool = True
    synchronous: str = "FULL"
    deadline: float = 30.0
    readers: int = 4


class Engine:
    """The connections of one file, shared by all handles of this process."""

    def __init__(self, path: str, options: Options) -> None:
        self.path = path
        self.options = options
        self.handles = 0
        self.last_commit: float | None = None
        self._pid = os.getpid()
        self._write_lock = threading.Lock()
        self._writes = 0
        self._idle: list[apsw.Connection] = []
        self._reader_slots = threading.BoundedSemaphore(options.readers)
        self._writer = None if options.read_only else self._open_writer()

    # --- connections ---

    def _open_writer(self) -> apsw.Connection:
        connection = connect(self.path)
        try:
            self._configure(connection)
        except apsw.Error as exc:
            connection.close()
            raise translated(exc, self.path) from exc
        return connection

    def _configure(self, connection: apsw.Connection) -> None:
        connection.set_busy_timeout(1000)
        connection.execute(f"PRAGMA synchronous = {self.options.synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_size_limit = 67108864")

    def _open_reader(self) -> apsw.Connection:
        immutable = self.options.read_only and not self._can_share()
        connection = connect(self.path, read_only=True, immutable=immutable)
        connection.set_busy_timeout(1000)
        return connection

    def _can_share(self) -> bool:
        """Whether readers can use the WAL's shared memory; a file in a read-only directory has none."""
        return os.access(os.path.dirname(self.path), os.W_OK) or os.path.exists(self.path + "-shm")

    # --- transactions ---

    def read(self, work: Callable[[Tx], R]) -> R:
        self._check_process()
        with self._reader_slots:
            connection = self._idle.pop() if self._idle else self._open_reader()
            try:
                return self._on_snapshot(connection, work)
            finally:
                self._idle.append(connection)

    def _on_snapshot(self, connection: apsw.Connection, work: Callable[[Tx], R]) -> R:
        try:
            connection.execute("BEGIN")
            try:
                return work(SQLiteTx(connection))
            finally:
                connection.execute("COMMIT")
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def write(self, work: Callable[[Tx], R]) -> R:
        self._check_process()
        if self._writer is None:
            raise errors.NotSupported(f"{self.path} was opened read-only; open it without read_only to write")
        with self._write_lock:
            result = self._transaction(self._writer, work)
            self._count_write(self._writer)
        return result

    def _transaction(self, connection: apsw.Connection, work: Callable[[Tx], R]) -> R:
        try:
            self._begin(connection)
            try:
                result = work(SQLiteTx(connection))
                kill_point("before commit")
                connection.execute("COMMIT")
            except BaseException:
                # Some errors (disk full, I/O) have rolled everything back already.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc
        self.last_commit = time.time()
        kill_point("after commit")
        return result

    def _begin(self, connection: apsw.Connection) -> None:
        until = time.monotonic() + self.options.deadline
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except apsw.BusyError as exc:
                if time.monotonic() >= until:
                    raise errors.Busy(
                        f"other writers held {self.path} for {self.options.deadline:g} s; try again"
                    ) from exc
                time.sleep(random.uniform(RETRY_MIN, RETRY_MAX))

    def _count_write(self, connection: apsw.Connection) -> None:
        self._writes += 1
        if self._writes % CHECKPOINT_EVERY == 0:
            self.checkpoint(connection)

    def checkpoint(self, connection: apsw.Connection) -> None:
        # PASSIVE never waits for readers: a stuck browser must not stall the gateway.
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except (apsw.BusyError, apsw.LockedError):
            return  # another process does it just now
        kill_point("after checkpoint")

    # --- life ---

    def close(self) -> None:
        with self._write_lock:
            for connection in (*self._idle, *([self._writer] if self._writer else [])):
                connection.close()
            self._idle.clear()
            self._writer = None

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            self._reopen_after_fork()

    def _reopen_after_fork(self) -> None:
        # The parent's connections are not ours to close: closing would checkpoint and unlock for it.
        _inherited.append((self._writer, list(self._idle)))
        self._pid = os.getpid()
        self._write_lock = threading.Lock()
        self._reader_slots = threading.BoundedSemaphore(self.options.readers)
        self._idle = []
        self._writer = None if self.options.read_only else self._open_writer()


_engines: dict[tuple[int, int, bool], Engine] = {}
_registry = threading.RLock()
_inherited: list[object] = []


def acquire(path: str, options: Options) -> Engine:
    """The engine of a file, made on first use; the schema is ready when it returns."""
    path = os.path.abspath(path)
    with _registry:
        if not options.read_only:
            files.prepare(path)
        elif not os.path.isfile(path):
            raise errors.NotFound(f"no store at {path}; open it once without read_only to create it")
        key = (*files.identity(path), options.read_only)
        engine = _engines.get(key)
        if engine is None:
            engine = _engines[key] = _prepared(path, options)
        engine.handles += 1
        return engine


def release(engine: Engine) -> None:
    """Give an engine back; the last handle closes it."""
    with _registry:
        engine.handles -= 1
        if engine.handles == 0:
            for key in [key for key, known in _engines.items() if known is engine]:
                del _engines[key]
            engine.close()


def _prepared(path: str, options: Options) -> Engine:
    kind = schema.probe(path)
    schema.check(kind, path, upgrade=options.upgrade)
    if options.read_only:
        if kind != schema.Kind("ours", schema.VERSION):
            raise errors.SchemaOutdated(f"{path} must be created or upgraded first; open it once without read_only")
        return Engine(path, options)
    if kind != schema.Kind("ours", schema.VERSION):
        with files.creation_lock(path, options.deadline):
            _install(path, options)
    engine = Engine(path, options)
    _adopt(engine)
    return engine


def _install(path: str, options: Options) -> None:
    """Create or upgrade; another process may have done it while this one waited for the lock."""
    kind = schema.probe(path)
    schema.check(kind, path, upgrade=options.upgrade)
    if kind == schema.Kind("ours", schema.VERSION):
        return
    if kind.name == "seed":
        schema.backup_before_upgrade(path, kind.version)
        kill_point("after upgrade backup")
    connection = connect(path)
    try:
        connection.set_busy_timeout(int(options.deadline * 1000))
        if kind.name == "empty":
            # Lets `optimize` give space back in small steps; can only be chosen before the first table.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        schema.install(connection, kind)
    except apsw.Error as exc:
        raise translated(exc, path) from exc
    finally:
        connection.close()


def _adopt(engine: Engine) -> None:
    """Rows of older code get their positions, a batch at a time, so that other writers come in between."""
    if engine.read(lambda tx: schema.needs_adoption(tx.connection)):  # type: ignore[attr-defined]
        while engine.write(lambda tx: schema.adopt_some(tx)):  # type: ignore[arg-type]
            pass
