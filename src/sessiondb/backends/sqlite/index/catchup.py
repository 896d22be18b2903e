"""Bringing an index up to date: logged changes first, then new messages in the order of their ids.

The data file is only read, in short snapshots; appends never wait for this. Whoever finds another process at it leaves
it the work and uses what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import apsw

from ....models import MessageRow
from ....search.text import words
from ....sql import rows
from ....sql.driver import Tx
from ....sql.filters import marks

BATCH = 500

NEW_ROWS = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE id > :last_id
     ORDER BY id
     LIMIT :limit
"""
CHANGES = """
    SELECT id, message_id
      FROM message_changes
     WHERE id > :last_change
     ORDER BY id
     LIMIT :limit
"""
SOME_ROWS = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE id IN (%s)
"""
BEHIND = """
    SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0),
           COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'message_changes'), 0),
           (SELECT COUNT(*) FROM message_changes WHERE id > :last_change),
           (SELECT value FROM meta WHERE name = 'store_id')
"""


class Reader(Protocol):
    def read(self, work: Callable[[Tx], Any]) -> Any: ...


@dataclass(slots=True)
class Position:
    """How far an index has read."""

    last_id: int
    last_change: int


def position(connection: apsw.Connection) -> Position:
    found = dict(connection.execute("SELECT name, value FROM state WHERE name IN ('last_id', 'last_change')"))
    return Position(int(str(found["last_id"])), int(str(found["last_change"])))


def catch_up(connection: apsw.Connection, data: Reader, budget: float | None) -> bool:
    """Index what is new until nothing is or the budget (seconds) is spent; False when another process is at it."""
    until = None if budget is None else time.monotonic() + budget
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            return False
        try:
            more = _step(connection, data)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if not more or (until is not None and time.monotonic() >= until):
            return True


def _step(connection: apsw.Connection, data: Reader) -> bool:
    """One batch, of changes if there are any; whether there may be more."""
    at = position(connection)
    changes = data.read(lambda tx: tx.rows(CHANGES, {"last_change": at.last_change, "limit": BATCH}))
    if changes:
        _reindex(connection, data, sorted({message_id for _, message_id in changes if message_id <= at.last_id}))
        _move(connection, last_change=changes[-1][0])
        return True
    found = data.read(lambda tx: rows.messages(tx.rows(NEW_ROWS, {"last_id": at.last_id, "limit": BATCH})))
    if found:
        _insert(connection, found)
        _move(connection, last_id=found[-1]["id"])
    return len(found) == BATCH


def _reindex(connection: apsw.Connection, data: Reader, ids: Sequence[int]) -> None:
    connection.executemany("DELETE FROM messages_fts WHERE rowid = ?", ((each,) for each in ids))
    names, params = marks("id", ids)
    if ids:
        _insert(connection, data.read(lambda tx: rows.messages(tx.rows(SOME_ROWS % names, params))))


def _insert(connection: apsw.Connection, messages: Sequence[MessageRow]) -> None:
    documents = ((message["id"], *map(" ".join, words(message))) for message in messages)
    connection.executemany("INSERT INTO messages_fts (rowid, body, extra) VALUES (?, ?, ?)", documents)


def _move(connection: apsw.Connection, **state: int) -> None:
    moved = [(str(value), name) for name, value in state.items()]
    connection.executemany("UPDATE state SET value = ? WHERE name = ?", moved)
