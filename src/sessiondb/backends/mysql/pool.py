"""A small pool: connections are checked after a rest, replaced when broken, and never shared across a fork."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from ...errors import Busy, Closed
from .connection import Connection

# How long a connection may rest before it is asked whether it still lives.
RESTED = 5.0


class Pool:
    def __init__(self, connect: Callable[[], Connection], pool_size: int, max_overflow: int) -> None:
        self.connect = connect
        self.pool_size, self.max_overflow = pool_size, max_overflow
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._free: list[Connection] = []
        self._in_use = 0
        self._closed = False

    @property
    def limit(self) -> int:
        return self.pool_size + self.max_overflow

    def facts(self) -> dict[str, int]:
        return {"pool_size": self.pool_size, "max_overflow": self.max_overflow,
                "connections_free": len(self._free), "connections_in_use": self._in_use}  # fmt: skip

    def take(self, isolation: str, until: float) -> Connection:
        """A connection for one transaction; raises Busy when all are in use until the deadline."""
        if self._pid != os.getpid():
            # The parent's sockets are not ours to use or to close politely.
            self._forget()
        connection = self._rested(isolation, until)
        try:
            if connection is None:
                connection = self.connect()
            connection.isolate(isolation)
        except BaseException:
            self.discard(connection)
            raise
        return connection

    def _rested(self, isolation: str, until: float) -> Connection | None:
        """A free connection that answers, or None: room for a new one."""
        while True:
            with self._changed:
                self._wait_for_room(until)
                self._in_use += 1
                found = self._pick(isolation)
            if found is None or time.monotonic() - found.last_used < RESTED or found.answers():
                return found
            self.discard(found)

    def _wait_for_room(self, until: float) -> None:
        while not self._closed and self._in_use >= self.limit:
            if not self._changed.wait(until - time.monotonic()) and time.monotonic() >= until:
                raise Busy(
                    f"all {self.limit} connections were in use until the deadline "
                    f"(pool_size {self.pool_size}, max_overflow {self.max_overflow}); raise pool_size"
                )
        if self._closed:
            raise Closed("the store is closed; open it again")

    def _pick(self, isolation: str) -> Connection | None:
        if not self._free:
            return None
        fitting = (at for at in range(len(self._free) - 1, -1, -1) if self._free[at].isolation == isolation)
        return self._free.pop(next(fitting, -1))

    def give_back(self, connection: Connection) -> None:
        connection.last_used = time.monotonic()
        with self._changed:
            self._in_use -= 1
            keep = not self._closed and len(self._free) < self.pool_size
            if keep:
                self._free.append(connection)
            self._changed.notify()
        if not keep:
            connection.close()

    def discard(self, connection: Connection | None) -> None:
        with self._changed:
            self._in_use -= 1
            self._changed.notify()
        if connection is not None:
            connection.abandon()

    def close(self) -> None:
        if self._pid != os.getpid():
            self._forget()
        with self._changed:
            self._closed = True
            free, self._free = self._free, []
            self._changed.notify_all()
        for connection in free:
            connection.close()
