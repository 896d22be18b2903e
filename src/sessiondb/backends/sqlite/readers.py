"""A bounded pool of reading connections."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import apsw

from ...sql.driver import Tx
from .connection import SQLiteTx, translated

R = TypeVar("R")


class Readers:
    """At most `size` connections, opened when needed; a read holds one, and its snapshot, only while it runs."""

    def __init__(self, path: str, size: int, opened: Callable[[], apsw.Connection]) -> None:
        self.path = path
        self._opened = opened
        self._idle: list[apsw.Connection] = []
        self._free = threading.BoundedSemaphore(size)

    def read(self, work: Callable[[Tx], R]) -> R:
        with self._free:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._opened()
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
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def connections(self) -> list[apsw.Connection]:
        return list(self._idle)
