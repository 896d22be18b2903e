"""Transactions on a server that may be busy, restarted or gone: what is safe to run again is run again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from ... import errors
from ...sql.driver import Tx
from . import faults, schema
from .address import Address
from .connection import READ, WRITE, Connection
from .indexing import IndexingTx
from .pool import Pool

R = TypeVar("R")
# A duplicate that was not there when the transaction looked: it looks again, and finds who was first.
DUPLICATE_TRIES = 5


class _CommitUnknown(Exception):
    """The connection was lost while committing: it may have happened or not."""


class MySQLDriver:
    def __init__(
        self, address: Address, *, pool_size: int, max_overflow: int, deadline: float, read_only: bool
    ) -> None:
        self.address, self.deadline, self.read_only = address, deadline, read_only
        self.pool = Pool(self._connect, pool_size, max_overflow)
        self.last_commit: float | None = None
        self.retries = 0

    def _connect(self) -> Connection:
        """A connection to the first node that answers."""
        *others, last = self.address.nodes
        for node in others:
            try:
                return Connection(node, self.deadline, self.deadline)
            except (faults.DriverError, OSError) as exc:
                if not isinstance(exc, OSError) and faults.number(exc) not in (*faults.UNREACHABLE, *faults.LOST):
                    raise
        return Connection(last, self.deadline, self.deadline)

    def prepare(self, *, upgrade: bool) -> tuple[schema.Kind, int]:
        """Make the database usable, and tell what it is and how large a packet may be. Does not wait for a server."""
        try:
            connection = self._connect()
        except (faults.DriverError, OSError) as exc:
            raise faults.translated(exc, self.address) from exc
        try:
            kind = schema.ensure(connection, upgrade=upgrade, read_only=self.read_only, deadline=self.deadline)
            return kind, connection.max_packet
        except faults.DriverError as exc:
            raise faults.translated(exc, self.address) from exc
        finally:
            connection.close()

    # --- transactions ---

    def read(self, work: Callable[[Tx], R]) -> R:
        return self._until_done(lambda until: self._once(work, READ, until))

    def write(self, work: Callable[[Tx], R], *, repeatable: bool = False) -> R:
        """Run and commit; `repeatable` work may run again even when its commit may have happened."""
        if self.read_only:
            raise errors.NotSupported(f"{self.address} was opened read-only; open it without read_only to write")
        try:
            return self._until_done(lambda until: self._once(work, WRITE, until), repeatable=repeatable)
        except _CommitUnknown as exc:
            raise errors.ConnectionLost(
                f"the connection to {self.address} was lost while committing: it was stored or not; "
                "look, or append with a message_key, which makes trying again safe"
            ) from exc.__cause__

    def _until_done(self, attempt: Callable[[float], R], *, repeatable: bool = True) -> R:
        until = time.monotonic() + self.deadline
        tries = 0
        while True:
            try:
                return attempt(until)
            except _CommitUnknown:
                if not repeatable or time.monotonic() >= until:
                    raise
            except (faults.DriverError, OSError) as exc:
                if not _worth_another_try(exc, tries) or time.monotonic() >= until:
                    raise faults.translated(exc, self.address) from exc
            tries += 1
            self.retries += 1
            # Writers that wait the same time collide again; spread them.
            time.sleep(min(0.25, 0.005 * 2 ** min(tries, 6)) * random.uniform(0.5, 1.5))

    def _once(self, work: Callable[[Tx], R], isolation: str, until: float) -> R:
        connection = self.pool.take(isolation, until)
        tx = IndexingTx(connection)
        try:
            result = work(tx)
            if isolation == WRITE:
                tx.index()
        except BaseException as exc:
            if faults.number(exc) != faults.UNREADY and connection.rollback():
                self.pool.give_back(connection)
            else:
                self.pool.discard(connection)
            raise
        self._commit(connection, isolation)
        self.pool.give_back(connection)
        return result

    def _commit(self, connection: Connection, isolation: str) -> None:
        try:
            connection.commit()
        except BaseException as exc:
            self.pool.discard(connection)
            if isolation == WRITE and (not isinstance(exc, faults.DriverError) or faults.is_lost(exc)):
                raise _CommitUnknown from exc
            raise
        if isolation == WRITE:
            self.last_commit = time.monotonic()

    # --- facts ---

    def facts(self) -> dict[str, Any]:
        age = None if self.last_commit is None else time.monotonic() - self.last_commit
        return {**self.pool.facts(), "deadline": self.deadline, "retries": self.retries, "last_commit_age": age}

    def close(self) -> None:
        self.pool.close()


def _worth_another_try(exc: BaseException, tries: int) -> bool:
    code = faults.number(exc)
    if code == faults.DUPLICATE:
        return tries < DUPLICATE_TRIES
    return isinstance(exc, OSError) or code in faults.CONTENDED or code in faults.LOST or code in faults.UNREACHABLE
