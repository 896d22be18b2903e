"""Connections: how they are opened, what is set on them, and what their errors mean."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import repeat

import apsw

from ... import errors
from ...sql.driver import Params, Row
from ...sql.escape import storable
from . import bodies, checksums
from .dialect import SQLITE

# WAL-reset fix and FTS5 fixes; older libraries lose committed rows.
OLDEST_SQLITE = (3, 53, 2)

# A name of its own, so that a test can put a failing disk in its place.
VFS_NAME = "unix"
BUSY_MS = 5000

_NOTHING: Params = {}


class SQLiteTx:
    """Statements on one connection, inside a transaction that somebody else began."""

    __slots__ = ("_cursor", "connection")

    def __init__(self, connection: apsw.Connection, cursor: apsw.Cursor | None = None) -> None:
        """A `cursor` that is kept for what changes rows saves making one for every statement."""
        self.connection = connection
        self._cursor = cursor or connection

    def rows(self, sql: str, params: Params = _NOTHING) -> list[Row]:
        text = SQLITE.text(sql)
        cursor = self.connection.execute(text, storable(params))
        at = bodies.known_places(text)
        if at is None:
            at = bodies.places(text, cursor)
        try:
            found: list[Row] = cursor.fetchall()
            return bodies.resolved(self.connection, found, at) if at else found
        except UnicodeDecodeError as exc:
            raise self._damaged_text() from exc

    def row(self, sql: str, params: Params = _NOTHING) -> Row | None:
        text = SQLITE.text(sql)
        cursor = self.connection.execute(text, storable(params))
        at = bodies.known_places(text)
        if at is None:
            at = bodies.places(text, cursor)
        try:
            found: Row | None = cursor.fetchone()
            cursor.close()
            return bodies.resolved(self.connection, [found], at)[0] if at and found is not None else found
        except UnicodeDecodeError as exc:
            raise self._damaged_text() from exc

    def _damaged_text(self) -> errors.Corrupt:
        path = self.connection.filename
        return errors.Corrupt(f"a text in {path} is damaged; `sessiondb doctor` tells what is left")

    def _stored(self, params: Params) -> Params:
        bindings = storable(params)
        return bodies.shared(self.connection, bindings) if bodies.has_large(bindings) else bindings

    def run(self, sql: str, params: Params = _NOTHING) -> int:
        self._cursor.execute(SQLITE.text(sql), self._stored(params))
        return self.connection.changes()

    def insert(self, sql: str, params: Params = _NOTHING) -> int | None:
        connection = self.connection
        self._cursor.execute(SQLITE.text(sql), self._stored(params))
        return connection.last_insert_rowid() if connection.changes() else None

    def insert_counted(self, sql: str, count: str, params: Params, *, plain: bool = False) -> int | None:
        connection = self.connection
        bindings = self._message(params if plain else storable(params))
        self._cursor.execute(SQLITE.pair(sql, count), SQLITE.places(sql, count)(bindings))
        return connection.last_insert_rowid() if connection.changes() else None

    def _message(self, bindings: Params) -> Params:
        """As `_stored`, for a new message."""
        return bodies.shared(self.connection, bindings) if _may_be_large(bindings) else bindings

    def insert_many(self, sql: str, params: Sequence[Params], *, plain: Sequence[bool] = ()) -> list[int]:
        # All large texts first: what is inserted last must be the last of these rows.
        known = plain or repeat(False, len(params))
        rows = [each if is_plain else storable(each) for each, is_plain in zip(params, known, strict=True)]
        if max([len(each.get("content") or "") for each in rows]) > bodies.SMALL:
            rows = list(map(self._message, rows))
        self._cursor.executemany(SQLITE.text(sql), list(map(SQLITE.places(sql), rows)))
        last = self.connection.last_insert_rowid()
        # One writer at a time, and ids that only grow: what was inserted is the last run of them.
        return list(range(last - len(params) + 1, last + 1))

    def run_many(self, sql: str, params: Sequence[Params]) -> None:
        self._cursor.executemany(SQLITE.text(sql), list(map(self._stored, params)))


def _may_be_large(message: Params) -> bool:
    """A new message has one text that may be large."""
    text = message.get("content")
    return text is not None and len(text) > bodies.SMALL


def sqlite_version() -> tuple[int, ...]:
    return tuple(int(part) for part in apsw.sqlite_lib_version().split("."))


def uri(path: str, **options: str | int) -> str:
    tail = "&".join(f"{name}={value}" for name, value in options.items())
    name = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{name}" + (f"?{tail}" if tail else "")


def connect(path: str, *, read_only: bool = False, immutable: bool = False, vfs: str | None = None) -> apsw.Connection:
    """An open connection that waits a moment for others; raises a typed error."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    name = uri(path, immutable=1) if immutable else uri(path)
    try:
        # The VFS is named: loading the checksum VFS elsewhere changes the process's default.
        connection = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_URI, vfs=vfs or vfs_of(path))
        # Others recover or tidy up for a moment when they open and close.
        connection.set_busy_timeout(BUSY_MS)
        return connection
    except apsw.Error as exc:
        raise translated(exc, path) from exc


def vfs_of(path: str) -> str:
    return checksums.load() if has_checksums(path) else VFS_NAME


def has_checksums(path: str) -> bool:
    """Whether the file's pages carry checksums; False when it cannot be read."""
    return checksums.present(uri(path, immutable=1))


def translated(exc: apsw.Error, path: str) -> errors.SessionDBError:
    """The typed error for a driver's, told by its code."""
    code = getattr(exc, "extendedresult", 0)
    kind, sentence = _MEANING.get(code) or _MEANING.get(code & 0xFF) or (errors.SessionDBError, "{error}")
    return kind(sentence.format(path=path, error=str(exc) or type(exc).__name__))


_MEANING: dict[int, tuple[type[errors.SessionDBError], str]] = {
    apsw.SQLITE_BUSY: (errors.Busy, "{path} is in use by another writer; try again"),
    apsw.SQLITE_LOCKED: (errors.Busy, "{path} is in use by another writer; try again"),
    apsw.SQLITE_FULL: (errors.DiskFull, "no room to write to {path}; free some space, then go on with the same handle"),
    apsw.SQLITE_CORRUPT: (errors.Corrupt, "{path} is damaged ({error}); `sessiondb doctor` tells what is left"),
    apsw.SQLITE_NOTADB: (errors.Corrupt, "{path} is not a database, or its header is damaged; nothing was changed"),
    apsw.SQLITE_READONLY: (
        errors.Unavailable,
        "{path} cannot be written: {error}; reading it (read_only=True) needs no permission to write",
    ),
    apsw.SQLITE_CANTOPEN: (
        errors.Unavailable,
        "{path} cannot be opened; check that you may read and write it, what stands beside it, and its directory",
    ),
    apsw.SQLITE_PERM: (errors.Unavailable, "no permission to use {path}"),
    apsw.SQLITE_AUTH: (errors.Unavailable, "no permission to use {path}"),
    apsw.SQLITE_IOERR: (errors.Unavailable, "reading or writing {path} failed ({error}); nothing half written remains"),
    apsw.SQLITE_IOERR_DATA: (errors.Corrupt, "a page of {path} is damaged; `sessiondb doctor` tells what is left"),
    apsw.SQLITE_PROTOCOL: (errors.Busy, "{path} is in use by another writer; try again"),
    apsw.SQLITE_TOOBIG: (errors.Invalid, "a value is too large for the database"),
    apsw.SQLITE_INTERRUPT: (errors.Unavailable, "the operation on {path} was interrupted"),
    apsw.SQLITE_CONSTRAINT_UNIQUE: (errors.Conflict, "another row has the same key: {error}"),
    apsw.SQLITE_CONSTRAINT_PRIMARYKEY: (errors.AlreadyExists, "the id is in use: {error}"),
    apsw.SQLITE_CONSTRAINT_FOREIGNKEY: (errors.NotFound, "the session it refers to does not exist"),
    apsw.SQLITE_CONSTRAINT: (errors.Conflict, "the store refuses this row: {error}"),
}
