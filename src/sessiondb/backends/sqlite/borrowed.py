"""A SQLite file as the source of a move: read, and never changed, whoever wrote it.

A file of ours is opened read-only. One of the original, of any version, is read row by row into a store of our own in
a temporary directory, where its messages get their positions; columns we do not know go along in `metadata`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from ... import errors, jsontext
from ...importers import hermes_rows
from ...models import MESSAGE_COLUMNS, SESSION_COLUMNS, TOKEN_COLUMNS
from ...moving import Row
from ...quarantine import bad_session
from ...sql.driver import Tx
from . import schema
from .connection import VFS_NAME
from .foreign import ForeignDatabase
from .provider import SQLiteProvider

BATCH = 500
NEEDED = {"sessions": {"id", "source", "started_at"}, "messages": {"id", "session_id", "role", "content", "timestamp"}}
_DERIVED = {"seq", "term", "last_message_id", "last_seq", "ledger", "relation"}
# Marks without a time, and the times we keep instead.
_MARKED = {"archived": "archived_at", "pinned": "pinned_at"}
_ZERO = ("message_count", "tool_call_count", *TOKEN_COLUMNS)
PARENTS_END = """
    SELECT end_reason
      FROM sessions
     WHERE id = :parent
"""
LINK = """
    UPDATE sessions
       SET parent_session_id = :parent,
           relation = :relation
     WHERE id = :id
"""

UNREADABLE = (apsw.Error, UnicodeDecodeError)
OTHER_TABLES = """
    SELECT name
      FROM sqlite_schema
     WHERE type = 'table'
       AND name NOT IN ('sessions', 'messages', 'schema_version', 'system_prompts')
       AND name NOT GLOB 'sqlite_*'
       AND name NOT GLOB '*_fts*'
     ORDER BY name
"""


class BorrowedSQLite(SQLiteProvider):
    """The conversations of a file, without touching it."""

    def __init__(self) -> None:
        super().__init__()
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._refused = Refused([], [])
        self._left_out: list[str] = []

    def initialize(self, *, path: str | os.PathLike[str], **options: Any) -> None:  # type: ignore[override]
        place = os.path.abspath(os.fspath(path))
        if not os.path.isfile(place):
            raise errors.NotFound(f"no store at {place}; name a file that exists")
        options = {name: value for name, value in options.items() if name != "read_only"}
        kind = schema.probe(place)
        if kind.name == "empty":
            raise errors.NotFound(f"{place} is empty; there is nothing to move")
        if kind.name == "ours":
            self._open_ours(place, options)
            return
        self._scratch = tempfile.TemporaryDirectory(prefix="sessiondb-move-")
        copy = os.path.join(self._scratch.name, "state.db")
        try:
            self._refused, self._left_out = _converted(place, copy)
            super().initialize(path=copy, synchronous="NORMAL")
        except BaseException:
            self.shutdown()
            raise
        self.media_directory = place + ".media"

    def _open_ours(self, place: str, options: dict[str, Any]) -> None:
        try:
            super().initialize(path=place, read_only=True, **options)
            return
        except errors.SchemaOutdated:
            pass
        # Of an earlier version: a copy is upgraded in its stead.
        self._scratch = tempfile.TemporaryDirectory(prefix="sessiondb-move-")
        copy = os.path.join(self._scratch.name, "state.db")
        try:
            _copied(place, copy)
            super().initialize(path=copy, synchronous="NORMAL")
        except BaseException:
            self.shutdown()
            raise
        self.media_directory = place + ".media"

    def shutdown(self) -> None:
        super().shutdown()
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def homeless(self) -> Iterator[Row]:
        yield from super().homeless()
        yield from self._refused.messages

    def unreadable_sessions(self) -> Iterator[Row]:
        return iter(self._refused.sessions)

    def left_out(self) -> list[str]:
        return self._left_out


def _copied(path: str, copy: str) -> None:
    target = apsw.Connection(copy, vfs=VFS_NAME)
    try:
        with ForeignDatabase(Path(path)) as tables, target.backup("main", tables.connection, "main") as backup:
            while not backup.done:
                backup.step(1000)
    finally:
        target.close()


class Refused(NamedTuple):
    """Rows that no store could keep."""

    sessions: list[Row]
    messages: list[Row]


def _converted(path: str, copy: str) -> tuple[Refused, list[str]]:
    """Make a store of the file's rows; returns what could not be kept, and what has no place in a store."""
    store = SQLiteProvider()
    store.initialize(path=copy, synchronous="NORMAL")
    refused = Refused([], [])
    try:
        with ForeignDatabase(Path(path)) as tables:
            _check(tables, path)
            prompts = _prompts(tables)
            for batch in _batches(tables, "sessions"):
                for row in batch:
                    row["system_prompt"] = row.get("system_prompt") or prompts.get(row.get("system_prompt_hash"))
                bad = store.driver.write(lambda tx, batch=batch: _add_sessions(tx, batch))  # type: ignore[misc]
                refused.sessions.extend(bad)
            for batch in _batches(tables, "sessions"):
                store.driver.write(lambda tx, batch=batch: _link(tx, batch))  # type: ignore[misc]
            for batch in _batches(tables, "messages"):
                bad = store.driver.write(lambda tx, batch=batch: _add_messages(tx, batch))  # type: ignore[misc]
                refused.messages.extend(bad)
            return refused, _left_out(tables)
    finally:
        store.shutdown()


def _prompts(tables: ForeignDatabase) -> dict[Any, str]:
    """Later versions keep each prompt once, by its hash."""
    if not {"hash", "prompt"} <= set(tables.columns("system_prompts")):
        return {}
    return {row["hash"]: row["prompt"] for row in tables.rows("system_prompts")}


def _left_out(tables: ForeignDatabase) -> list[str]:
    """The other tables with something in them; those of a full-text index hold nothing of their own."""
    told = []
    for (name,) in tables.connection.execute(OTHER_TABLES).fetchall():
        quoted = '"' + str(name).replace('"', '""') + '"'
        (count,) = tables.connection.execute(f"SELECT COUNT(*) FROM {quoted}").fetchone() or (0,)
        if count:
            told.append(f"{name}: {count:,} {'row' if count == 1 else 'rows'} of its program alone, left in the source")
    return told


def _check(tables: ForeignDatabase, path: str) -> None:
    for table, needed in NEEDED.items():
        missing = needed - set(tables.columns(table))
        if missing:
            raise errors.SchemaTooNew(
                f"{path} is no store of conversations: {table} lacks {sorted(missing)[0]}; it was not touched"
            )


def _batches(tables: ForeignDatabase, table: str) -> Iterator[list[Row]]:
    """Rows in the order they were written; a row that cannot be read stands with its number only."""
    numbers = [row[0] for row in tables.connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
    columns = tables.columns(table)
    for start in range(0, len(numbers), BATCH):
        yield [_row(tables, table, columns, number) for number in numbers[start : start + BATCH]]


def _row(tables: ForeignDatabase, table: str, columns: tuple[str, ...], number: Any) -> Row:
    try:
        found = tables.connection.execute(f"SELECT * FROM {table} WHERE rowid = ?", (number,)).fetchone()
    except UNREADABLE as exc:
        return {"id": number, **_legible(tables, table, columns, number), "unreadable": str(exc)}
    return dict(zip(columns, found or (), strict=False))


def _legible(tables: ForeignDatabase, table: str, columns: tuple[str, ...], number: Any) -> Row:
    """The columns of a row that can be read one by one."""
    found = {}
    for name in columns:
        try:
            value = tables.connection.execute(f'SELECT "{name}" FROM {table} WHERE rowid = ?', (number,)).fetchone()
        except UNREADABLE:
            continue
        if value is not None and value[0] is not None:
            found[name] = value[0]
    return found


def _add_sessions(tx: Tx, rows: list[Row]) -> list[Row]:
    refused = []
    for row in rows:
        try:
            if "unreadable" in row:
                raise errors.Invalid(row["unreadable"])
            values = _session(row)
            reason = bad_session(values)
            if reason is None:
                _insert(tx, "sessions", values)
            else:
                refused.append({**row, "refused": reason})
        except (apsw.ConstraintError, errors.Invalid):
            refused.append({"id": None, **row})
    return refused


def _session(row: Row) -> Row:
    values = _ours(row, SESSION_COLUMNS)
    values |= {name: values[name] or 0 for name in _ZERO} | {"last_seq": 0, "ledger": 0, "relation": "root"}
    for mark, column in _MARKED.items():
        if row.get(mark) and values[column] is None:
            values[column] = values["ended_at"] or values["started_at"]
    # Its parent may come later.
    return values | {"parent_session_id": None}


def _link(tx: Tx, rows: list[Row]) -> None:
    for row in rows:
        if row.get("parent_session_id") is None or "unreadable" in row:
            continue
        parent = tx.row(PARENTS_END, {"parent": row["parent_session_id"]})
        if parent is not None:
            meant = hermes_rows.relation(row, parent[0])
            # One child goes on where its parent was compressed; which one is told when they are adopted.
            relation = "root" if meant == "compression" else meant
            tx.run(LINK, {"id": row["id"], "parent": row["parent_session_id"], "relation": relation})


def _add_messages(tx: Tx, rows: list[Row]) -> list[Row]:
    refused = []
    for row in rows:
        try:
            if "unreadable" in row:
                raise errors.Invalid(row["unreadable"])
            if not isinstance(row["timestamp"], int | float):
                refused.append({**row, "refused": f"its time is {row['timestamp']!r}"})
                continue
            values = _ours(row, MESSAGE_COLUMNS)
            values |= {
                "active": 1 if values["active"] is None else values["active"],
                "injected": values["injected"] or 0,
            }
            values["reasoning"] = values["reasoning"] or row.get("reasoning_content")
            structured = hermes_rows.parts(values["content"])
            if structured is not None:
                values |= {"content": jsontext.dumps(structured), "content_type": "json"}
            _insert(tx, "messages", values)
        except (apsw.ConstraintError, errors.Invalid):
            refused.append({"session_id": None, **row})
    return refused


def _ours(row: Row, columns: tuple[str, ...]) -> Row:
    """The row in our columns; what else it has is kept in `metadata`."""
    values = {name: row.get(name) if name not in _DERIVED else None for name in columns}
    rest = {name: value for name, value in row.items() if name not in columns and value and name not in _MARKED}
    rest.pop("reasoning_content", None)
    if rest and values.get("metadata") is None:
        values["metadata"] = jsontext.dumps({"hermes": {name: _plain(value) for name, value in rest.items()}})
    return values


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _insert(tx: Tx, table: str, values: Row) -> None:
    names = ", ".join(values)
    tx.run(f"INSERT INTO {table} ({names}) VALUES ({', '.join(f':{name}' for name in values)})", values)
