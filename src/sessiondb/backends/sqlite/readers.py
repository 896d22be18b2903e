"""A bounded pool of reading connections."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import apsw

from ... import errors
from ...sql.driver import Tx
from .connection import SQLiteTx, translated

R = TypeVar("R")


class Readers:
    """At most `size` connections, opened when needed; a read holds one, and its snapshot, only while it runs."""

    def __init__(self, path: str, size: int, opened: Callable[[], apsw.Connection]) -> None:
        self.path = path
        self._opened = opened
        self._idle: list[apsw.Connection] = []
        self._size = size
        self._closed = False
        self._free = threading.BoundedSemaphore(size)

    def read(self, work: Callable[[Tx], R]) -> R:
        with self._free:
            if self._closed:
                raise errors.Closed("the store is closed; open it again")
            connection = None
            try:
                connection = self._borrowed()
                return self._on_snapshot(connection, work)
            finally:
                if connection is not None:
                    self._put_back(connection)

    def _borrowed(self) -> apsw.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._opened()

    def _put_back(self, connection: apsw.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        self._idle.append(connection)

    def _on_snapshot(self, connection: apsw.Connection, work: Callable[[Tx], R]) -> R:
        try:
            connection.execute("BEGIN")
            return work(SQLiteTx(connection))
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def close(self) -> None:
        """Wait for those who read, refuse those who come later."""
        for _ in range(self._size):
            self._free.acquire()
        self._closed = True
        for _ in range(self._size):
            self._free.release()
        while self._idle:
            self._idle.pop().close()

    def connections(self) -> list[apsw.Connection]:
        return list(self._idle)
