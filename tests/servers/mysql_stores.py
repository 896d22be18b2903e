"""Empty stores on the server of the test run: databases are made once per worker and emptied for the next test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pymysql

from servers import mariadb
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.db import SessionDB

# Opens a store with options, closed after the test.
Open = Callable[..., SessionDB]

# Owned rows before their owners.
TABLES = (
    "search_words", "search_chunks", "tool_calls", "media_refs", "tags", "messages", "sessions", "meta", "import_files",
    "gateway_bindings", "trash_media_refs", "trash_tool_calls", "trash_messages", "trash_sessions",
)  # fmt: skip


class Stores:
    """Hands out empty databases; `recycle` takes all of them back."""

    def __init__(self, server: mariadb.MariaDB) -> None:
        self.server = server
        self.connection = pymysql.connect(**server.options(), autocommit=True, ssl_disabled=True)
        self._free: list[str] = []
        self._given: list[str] = []

    def new(self) -> dict[str, Any]:
        name = self._emptied(self._free.pop()) if self._free else self._created()
        self._given.append(name)
        media = str(self.server.directory / "media" / name)
        return self.server.options(database=name, deadline=10.0, pool_size=4, max_overflow=8, media_directory=media)

    def recycle(self) -> None:
        self._free += self._given
        self._given = []

    def execute(self, sql: str, params: Any = None) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, params)
            return list(cursor.fetchall())

    def empty_database(self) -> str:
        """A database without tables, its name."""
        name = f"test_{uuid4().hex}"
        self.execute(f"CREATE DATABASE {name} CHARACTER SET latin1")
        return name

    def _created(self) -> str:
        name = self.empty_database()
        provider = MySQLProvider()
        provider.initialize(**self.server.options(database=name))
        provider.shutdown()
        return name

    def _emptied(self, name: str) -> str:
        for table in TABLES:
            self.execute(f"DELETE FROM {name}.{table}")
        return name


@contextmanager
def opened() -> Iterator[Stores]:
    with mariadb.shared() as server:
        stores = Stores(server)
        try:
            yield stores
        finally:
            stores.connection.close()
