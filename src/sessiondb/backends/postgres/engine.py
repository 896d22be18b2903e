"""Transactions on leased connections, run again when that is safe.

Before the commit is sent nothing has happened, and a transaction may always run again. After it, only one that can be
repeated without harm may: an append whose messages have keys.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from ... import errors
from ...models import Draft
from ...sql.appends import known_keys
from ...sql.driver import Tx
from . import appends, faults
from .connection import Connection, PostgresTx
from .dialect import dialect
from .pool import Options, Pool, Pools

R = TypeVar("R")

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
TAKEN_TRIES = 5
PAUSE_SECONDS = (0.002, 0.25)


class Doubt:
    """Whether the server may have committed without our knowing."""

    __slots__ = ("raised",)

    def __init__(self) -> None:
        self.raised = False


class Engine:
    def __init__(self, options: Options, pool: Pool | None) -> None:
        self.options = options
        self.dialect = dialect(options.schema)
        self.pools = Pools(options, pool)
        self.last_commit: float | None = None
        self.retries = 0

    # --- transactions ---

    def read(self, work: Callable[[Tx], R]) -> R:
        return self._until_done(lambda connection, _: self._transaction(connection, READ, work, Doubt()), True)

    def look(self, work: Callable[[Tx], R]) -> R:
        return self._until_done(lambda connection, _: work(PostgresTx(connection, self.dialect)), True)

    def write(self, work: Callable[[Tx], R], *, repeatable: bool = False) -> R:
        self._check_writable()
        done = self._until_done(lambda connection, doubt: self._transaction(connection, WRITE, work, doubt), repeatable)
        self.last_commit = time.monotonic()
        return done

    def append(self, session_id: str, draft: Draft) -> int | None:
        """Append a message that stands alone, in one round trip; None when the longer way must tell why not."""
        self._check_writable()
        sql, params = appends.statement(session_id, draft)

        def append(connection: Connection, doubt: Doubt) -> int | None:
            tx = PostgresTx(connection, self.dialect)
            doubt.raised = True
            try:
                found = tx.row(sql, params)
            except psycopg.errors.UniqueViolation:
                key = draft.values["message_key"]
                known = {} if key is None else known_keys(tx, session_id, [key])
                if not known:
                    raise
                return next(iter(known.values()))
            return None if found is None else int(found[0])

        message_id = self._until_done(append, draft.values["message_key"] is not None)
        self.last_commit = time.monotonic()
        return message_id

    def _check_writable(self) -> None:
        if self.options.read_only:
            raise errors.NotSupported("the store was opened read-only; open it without read_only to write")

    def _transaction(self, connection: Connection, begin: str, work: Callable[[Tx], R], doubt: Doubt) -> R:
        connection.execute(begin.encode(), prepare=False)
        try:
            done = work(PostgresTx(connection, self.dialect))
            doubt.raised = True
            connection.execute("COMMIT", prepare=False)
        except BaseException:
            _roll_back(connection)
            raise
        return done

    # --- persistence ---

    def _until_done(self, step: Callable[[Connection, Doubt], R], repeatable: bool) -> R:
        until = time.monotonic() + self.options.deadline
        tries = 0
        while True:
            doubt = Doubt()
            try:
                with self.pools.leased(until) as connection:
                    return step(connection, doubt)
            except psycopg.Error as exc:
                tries += 1
                lost = faults.is_lost(exc)
                if (
                    not self._worth_another(exc, lost, repeatable or not doubt.raised, tries)
                    or time.monotonic() > until
                ):
                    raise self._told(exc, lost, doubt.raised and not repeatable) from exc
            self.retries += 1
            # Writers that wait the same time collide again; spread them.
            time.sleep(min(PAUSE_SECONDS[1], PAUSE_SECONDS[0] * 2**tries) * random.uniform(0.5, 1.5))

    def _worth_another(self, exc: psycopg.Error, lost: bool, safe: bool, tries: int) -> bool:
        if lost:
            return safe
        return exc.sqlstate in faults.COLLISIONS or (exc.sqlstate in faults.FOUND_TAKEN and tries < TAKEN_TRIES)

    def _told(self, exc: psycopg.Error, lost: bool, doubtful: bool) -> errors.SessionDBError:
        error = faults.translated(exc, self.pools.place)
        if not lost or not doubtful:
            return error
        return errors.ConnectionLost(
            f"{error}; it is not known whether the last change was stored: look before repeating it, "
            "or append with message_key, which may be repeated"
        )

    # --- life ---

    def close(self) -> None:
        self.pools.close()

    def facts(self) -> dict[str, Any]:
        age = None if self.last_commit is None else time.monotonic() - self.last_commit
        return {"last_commit_age": age, "retries": self.retries, **self.pools.facts()}


def _roll_back(connection: Connection) -> None:
    if connection.closed or connection.info.transaction_status == TransactionStatus.IDLE:
        return
    try:
        connection.execute("ROLLBACK", prepare=False)
    except psycopg.Error:
        # The server forgets the transaction with the connection.
        connection.close()
