"""Connections: our own pool or the caller's, checked when they were idle, given back in the state they came in."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from ... import errors
from ...config import spelled
from . import faults
from .connection import Connection

# A firewall or a restart ends idle connections silently: older ones are asked before they are used.
ASK_AFTER_SECONDS = 2.0
CONNECT_SECONDS = 10

Pool = ConnectionPool[Any]


@dataclass(frozen=True, slots=True)
class Options:
    dsn: str = ""
    schema: str = "public"
    pool_size: int = 10
    max_overflow: int = 5
    deadline: float = 30.0
    synchronous_commit: str | None = None
    prepare_threshold: int | None = 5
    read_only: bool = False

    @property
    def most(self) -> int:
        return self.pool_size + self.max_overflow


class Pooled(psycopg.Connection[Any]):
    """A connection that remembers when it was last used."""

    used_at = 0.0


def place(dsn: str) -> str:
    """Where a DSN leads, without its secrets."""
    known = conninfo_to_dict(dsn)
    host, port = known.get("host") or known.get("hostaddr") or "the local socket", known.get("port") or 5432
    return f"PostgreSQL at {host}:{port}, database {known.get('dbname') or known.get('user') or 'by default'!r}"


def parsed(dsn: str) -> str:
    """A DSN that libpq understands; what it says about one that it does not may quote the password."""
    try:
        return make_conninfo(spelled(dsn))
    except psycopg.ProgrammingError as exc:
        raise errors.Invalid("the dsn is not understood; write postgresql://user:password@host:5432/database") from exc


def arguments(options: Options) -> dict[str, Any]:
    """What every connection is opened with."""
    known = conninfo_to_dict(options.dsn)
    given = {
        "autocommit": True,
        "prepare_threshold": options.prepare_threshold,
        "client_encoding": "utf-8",
        "application_name": known.get("application_name") or "sessiondb",
        "connect_timeout": known.get("connect_timeout") or CONNECT_SECONDS,
    }
    # A transaction pooler (no prepared statements) refuses settings at the start: there they belong to the role.
    settings = _settings(options) if options.prepare_threshold is not None else ""
    return {**given, "options": f"{known.get('options') or ''} {settings}".strip()} if settings else given


def _settings(options: Options) -> str:
    waits = f"-c lock_timeout={max(1, int(options.deadline * 1000))}"
    return (
        waits if options.synchronous_commit is None else f"{waits} -c synchronous_commit={options.synchronous_commit}"
    )


def connect(options: Options) -> Connection:
    """One connection, apart from any pool; a refusal is told at once and in one sentence."""
    try:
        return psycopg.connect(options.dsn, **arguments(options))
    except psycopg.Error as exc:
        # Not `from exc`: libpq's text may repeat what the DSN held.
        raise faults.refused(exc, place(options.dsn)) from None


class Pools:
    """Lends connections; a forked child gets a pool of its own."""

    def __init__(self, options: Options, lent: Pool | None) -> None:
        self.options = options
        self.place = place(options.dsn) if options.dsn else "PostgreSQL"
        self.lent = lent
        self._inherited: list[Pool] = []
        self._own: Pool | None = None if lent is not None else self._opened()

    def _opened(self) -> Pool:
        self._pid = os.getpid()
        pool: Pool = ConnectionPool(
            self.options.dsn,
            connection_class=Pooled,
            kwargs=arguments(self.options),
            min_size=0,
            max_size=self.options.most,
            timeout=self.options.deadline,
            check=_asked,
            name="sessiondb",
            open=False,
        )
        pool.open()
        return pool

    def current(self) -> Pool:
        if self.lent is not None:
            return self.lent
        if self._own is None:
            raise errors.Closed("the store is closed; open it again")
        if self._pid != os.getpid():
            # The parent's connections are not ours to use or to close.
            self._inherited.append(self._own)
            self._own = self._opened()
        return self._own

    @contextmanager
    def leased(self, until: float) -> Iterator[Connection]:
        pool = self.current()
        connection = self._taken(pool, max(0.001, until - time.monotonic()))
        kept = connection.autocommit
        if not kept:
            connection.autocommit = True
        try:
            yield connection
        finally:
            if not kept and not connection.closed:
                connection.autocommit = False
            if isinstance(connection, Pooled):
                connection.used_at = time.monotonic()
            pool.putconn(connection)

    def _taken(self, pool: Pool, seconds: float) -> Connection:
        failed = pool.get_stats().get("connections_errors", 0)
        try:
            taken: Connection = pool.getconn(timeout=seconds)
            return taken
        except PoolTimeout:
            refusals = pool.get_stats().get("connections_errors", 0) - failed
        except PoolClosed:
            raise errors.Closed("the pool of connections is closed, or not open yet; open it, then the store") from None
        if refusals:
            raise errors.ConnectionLost(f"{self.place} cannot be reached; check that it runs, then use the same handle")
        raise errors.Busy(
            f"all {pool.max_size} connections to {self.place} were in use for {seconds:.1f} s{self._sizes()}; "
            "raise pool_size or max_overflow, or use fewer threads"
        )

    def _sizes(self) -> str:
        if self.lent is not None:
            return " (the pool is the caller's)"
        return f" (pool_size {self.options.pool_size}, max_overflow {self.options.max_overflow})"

    def close(self) -> None:
        if self._own is not None and self._pid == os.getpid():
            self._own.close()
        self._own = None

    def facts(self) -> dict[str, Any]:
        stats = self.current().get_stats()
        return {name: stats.get(name, 0) for name in ("pool_size", "pool_available", "requests_waiting")}


def _asked(connection: Pooled) -> None:
    if time.monotonic() - connection.used_at > ASK_AFTER_SECONDS and connection.used_at:
        ConnectionPool.check_connection(connection)
