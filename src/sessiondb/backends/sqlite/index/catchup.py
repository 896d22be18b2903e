"""Bringing an index up to date: logged changes first, then new messages in the order of their ids.

The data file is only read, in short snapshots; appends never wait for this. What is costly is done before the index is
locked, so that searches of other processes wait for the insertion alone. Whoever finds another process at it leaves it
the work and uses what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Protocol

import apsw

from ....rows import decoded
from ....search import rank
from ....search.text import columns, readable, tool_text
from ....sql import rows
from ....sql.driver import Row, Tx
from ....sql.escape import unescape
from ....sql.filters import marks
from ....values import NamedTuple, dataclass, field
from . import files, fts5, seal

BATCH = 500
# Messages may have megabytes: a step ends with the message that makes it so long.
BYTES = 4 * 1024 * 1024

# What is said in a message, and by whom.
_ROWS = f"""
    SELECT {rows.prefixed(("id", "term", "content", "content_type", "tool_calls", "tool_name"), "m")}, s.source
      FROM messages m
      LEFT JOIN sessions s ON s.id = m.session_id
"""
NEW_ROWS = f"""
    {_ROWS}
     WHERE m.id > :last_id
     ORDER BY m.id
     LIMIT :limit
"""
SOME_ROWS = f"""
    {_ROWS}
     WHERE m.id IN (%s)
     ORDER BY m.id
"""
# The last id that was given, to a message that may be gone.
NEWEST = """
    SELECT seq
      FROM sqlite_sequence
     WHERE name = 'messages'
"""
# Known without reading the text itself.
SIZES = """
    SELECT COALESCE(b.size, octet_length(m.content))
      FROM messages m
      LEFT JOIN bodies b ON b.reference = m.content
     WHERE m.id > :last_id
     ORDER BY m.id
     LIMIT :limit
"""
CHANGES = """
    SELECT id, message_id
      FROM message_changes
     WHERE id > :last_change
     ORDER BY id
     LIMIT :limit
"""

Document = tuple[int, str, str]


class Reader(Protocol):
    def read(self, work: Callable[[Tx], Any]) -> Any: ...


class Position(NamedTuple):
    """How far an index has read."""

    last_id: int
    last_change: int


@dataclass(slots=True)
class Step:
    """What one commit brings into the index, and where it is then."""

    documents: list[Document]
    state: dict[str, str]
    removed: Sequence[int] = ()
    more: bool = False
    started_at: Position = field(default_factory=lambda: Position(0, 0))


def position(connection: apsw.Connection) -> Position:
    found = dict(connection.execute("SELECT name, value FROM state WHERE name IN ('last_id', 'last_change')"))
    return Position(int(str(found["last_id"])), int(str(found["last_change"])))


def catch_up(connection: apsw.Connection, path: str, data: Reader, budget: float | None, batch: int = BATCH) -> bool:
    """Index what is new until nothing is or the budget (seconds) is spent; whether all that was found is done."""
    until = None if budget is None else time.monotonic() + budget
    while True:
        step = prepared(position(connection), data, batch)
        if step is None:
            return True
        try:
            taken(connection, path, step)
        except (apsw.BusyError, seal.InUse):
            return False
        if until is not None and time.monotonic() >= until:
            return not step.more


def prepared(at: Position, data: Reader, batch: int) -> Step | None:
    """The next batch, of changes if there are any; None when there is nothing new."""
    changes = data.read(lambda tx: tx.rows(CHANGES, {"last_change": at.last_change, "limit": batch}))
    if changes:
        return _changed(at, data, changes)
    found, more, newest = data.read(lambda tx: (*_new(tx, at.last_id, batch), tx.row(NEWEST)))
    if not found:
        return _beyond_the_gone(at, newest[0] if newest else 0)
    last_id, term = found[-1][:2]
    state = {"last_id": str(last_id)}
    if term is not None:
        # By which a store is known that was set back and went on otherwise.
        state["witness"] = f"{last_id}:{term}"
    return Step([_document(row) for row in found], state, more=more, started_at=at)


def _beyond_the_gone(at: Position, newest: int) -> Step | None:
    """Past ids whose messages were removed before they were read; else they would count as unread for ever."""
    if newest <= at.last_id:
        return None
    # Nobody has this id again, unless the store is set back.
    return Step([], {"last_id": str(newest), "witness": f"{newest}:gone"}, started_at=at)


def _new(tx: Tx, last_id: int, batch: int) -> tuple[list[Row], bool]:
    """The next messages, so many or so long, and whether there may be more."""
    sizes = [row[0] or 0 for row in tx.rows(SIZES, {"last_id": last_id, "limit": batch})]
    fits = next((count for count, size in enumerate(accumulate(sizes), 1) if size >= BYTES), len(sizes))
    found = tx.rows(NEW_ROWS, {"last_id": last_id, "limit": fits}) if fits else []
    return found, fits < len(sizes) or len(sizes) == batch


def _changed(at: Position, data: Reader, changes: Sequence[Row]) -> Step:
    ids = sorted({message_id for _, message_id in changes if message_id <= at.last_id})
    names, params = marks("id", ids)
    found = data.read(lambda tx: tx.rows(SOME_ROWS % names, params)) if ids else []
    return Step([_document(row) for row in found], {"last_change": str(changes[-1][0])}, ids, True, at)


def _document(row: Row) -> Document:
    message_id, _, content, content_type, calls, tool, source = row
    content, calls, tool = (unescape(text) if text.__class__ is str else text for text in (content, calls, tool))
    message: Any = {
        "content": decoded(content) if content_type == "json" and content is not None else content,
        "tool_calls": None if calls is None else decoded(calls),
        "tool_name": tool,
    }
    body, extra = columns(readable(message), tool_text(message))
    return message_id, body, f"{extra} {fts5.MACHINE}" if rank.automated(unescape(source or "")) else extra


def taken(connection: apsw.Connection, path: str, step: Step) -> None:
    """Put a step into the index, unless another process has moved it on meanwhile."""
    connection.execute("BEGIN EXCLUSIVE")
    try:
        if position(connection) == step.started_at:
            if not seal.intact(path):
                raise files.Unusable("somebody else wrote to it")
            _apply(connection, step)
            with seal.broken(path):
                connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _apply(connection: apsw.Connection, step: Step) -> None:
    connection.executemany("DELETE FROM messages_fts WHERE rowid = ?", ((each,) for each in step.removed))
    connection.executemany("INSERT INTO messages_fts (rowid, body, extra) VALUES (?, ?, ?)", step.documents)
    if any(extra.endswith(fts5.MACHINE) for _, _, extra in step.documents):
        step.state["machines"] = "some"
    moved = [(value, name) for name, value in step.state.items()]
    connection.executemany("UPDATE state SET value = ? WHERE name = ?", moved)
