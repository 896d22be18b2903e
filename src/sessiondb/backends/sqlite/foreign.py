"""SQLite files of other programs, read without changing them or anything beside them.

Without a write-ahead log a file is opened immutable: no lock, no side file. With one it is opened read-only, next to
its owner. A log whose shared memory is gone, or a rollback journal, cannot be read without writing: then a copy is.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from ...errors import ImportProblem
from .connection import BUSY_MS, VFS_NAME, uri

COLUMNS = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
TABLES = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name"
_MAGIC = b"SQLite format 3\x00"


def is_database(head: bytes) -> bool:
    return head.startswith(_MAGIC)


class ForeignDatabase:
    """`with ForeignDatabase(path) as tables:` — names of tables and columns, and rows as dicts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._connection: apsw.Connection | None = None

    def __enter__(self) -> ForeignDatabase:
        try:
            self._connection = self._opened()
            self.tables()
        except ImportProblem:
            self.__exit__()
            raise
        except (apsw.Error, OSError) as exc:
            self.__exit__()
            raise ImportProblem(f"{self.path} cannot be read as SQLite: {exc}") from exc
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def _opened(self) -> apsw.Connection:
        if _size(self.path, "-journal") or (_size(self.path, "-wal") and not os.path.exists(f"{self.path}-shm")):
            return self._of_copy()
        mode: dict[str, str | int] = {"mode": "ro"} if _size(self.path, "-wal") else {"immutable": 1}
        return _connection(uri(str(self.path), **mode), apsw.SQLITE_OPEN_READONLY)

    def _of_copy(self) -> apsw.Connection:
        self._copy = tempfile.TemporaryDirectory(prefix="sessiondb-import-")
        target = os.path.join(self._copy.name, "copy.db")
        for tail in ("", "-wal", "-journal"):
            if os.path.exists(f"{self.path}{tail}"):
                shutil.copyfile(f"{self.path}{tail}", target + tail)
        return _connection(uri(target), apsw.SQLITE_OPEN_READWRITE)

    @property
    def connection(self) -> apsw.Connection:
        if self._connection is None:
            raise ImportProblem(f"{self.path} is closed")
        return self._connection

    def tables(self) -> frozenset[str]:
        return frozenset(self._names(TABLES))

    def columns(self, table: str) -> tuple[str, ...]:
        """The columns there are; none for a table that is not there."""
        return tuple(self._names(COLUMNS, table))

    def _names(self, sql: str, *values: str) -> list[str]:
        try:
            return [str(name) for (name,) in self.connection.execute(sql, values)]
        except (apsw.Error, UnicodeDecodeError) as exc:
            raise ImportProblem(f"{self.path} cannot be read as SQLite: {exc}") from exc

    def rows(
        self,
        table: str,
        *,
        equal: dict[str, Any] | None = None,
        starting: dict[str, str] | None = None,
        order: tuple[str, ...] = (),
    ) -> Iterator[dict[str, Any]]:
        """Rows as dicts, read as they are asked for; a name that the table has not is left out of `order`.

        `starting` is for ASCII beginnings of indexed columns: what follows them in the index is read, nothing else.
        """
        known = self.columns(table)
        sql = f"SELECT {', '.join(map(_quoted, known))} FROM {_quoted(table)}"
        tests = [(f"{_quoted(name)} IS ?", [value]) for name, value in (equal or {}).items()]
        for name, beginning in (starting or {}).items():
            after = beginning[:-1] + chr(ord(beginning[-1]) + 1)
            tests.append((f"{_quoted(name)} >= ? AND {_quoted(name)} < ?", [beginning, after]))
        if tests:
            sql += " WHERE " + " AND ".join(test for test, _ in tests)
        if wanted := [_quoted(name) for name in order if name in known]:
            sql += f" ORDER BY {', '.join(wanted)}"
        try:
            for row in self.connection.execute(sql, tuple(value for _, values in tests for value in values)):
                yield dict(zip(known, row, strict=True))
        except (apsw.Error, UnicodeDecodeError) as exc:
            raise ImportProblem(f"{table} of {self.path} cannot be read: {exc}") from exc


def _connection(name: str, flags: int) -> apsw.Connection:
    # The VFS is named: loading the checksum VFS elsewhere changes the process's default.
    connection = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_URI, vfs=VFS_NAME)
    connection.set_busy_timeout(BUSY_MS)
    return connection


def _size(path: Path, tail: str) -> int:
    try:
        return os.stat(f"{path}{tail}").st_size
    except FileNotFoundError:
        return 0


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
