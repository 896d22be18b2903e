"""Messages: append, read, hide, remove, scan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import ledger
from ..models import (
    MEDIA_REF_COLUMNS,
    MESSAGE_COLUMNS,
    TOOL_CALL_COLUMNS,
    Draft,
    Filter,
    MediaRefRow,
    MessageFilter,
    MessageRow,
    SessionRow,
    ToolCallRow,
)
from ..provider import SessionDBProvider
from ..replay import TURN_COLUMNS, Turn, turn
from ..rows import media_ref_row
from ..values import replace
from . import appends, rows
from .adopt import LEDGER, adopt_all
from .driver import Driver, Row, Tx, read, write
from .escape import MARK, unescape
from .filters import marks, messages_where, sessions_where

PLACED = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE session_id = :session_id
       AND seq > :after
       AND seq < :before
       AND active >= :active
     ORDER BY seq %s
     {{page}}
"""
UNPLACED = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE session_id = :session_id
       AND seq IS NULL
     ORDER BY id
"""
WITH_FACTS = f"""
    SELECT {rows.prefixed(MESSAGE_COLUMNS, "m")}, s.source, s.model, s.title, s.started_at
      FROM messages m
"""
FOUND = f"""
    {WITH_FACTS}
      JOIN sessions s ON s.id = m.session_id
     WHERE m.id IN (%s)
"""
# A database that begins with the sessions sorts the messages of all that pass, anew for each page.
BY_MESSAGES = "{messages_first} sessions s ON s.id = m.session_id"
BY_SESSIONS = "JOIN sessions s ON s.id = m.session_id"
# So few are worth beginning with.
FEW_SESSIONS = 200
_TOGETHER = 500
# A replay needs no more than this, and is read whole.
TURNS = f"""
    SELECT {", ".join(TURN_COLUMNS)}
      FROM messages
     WHERE session_id = :session_id
       AND seq IS NOT NULL
       AND active = 1
     ORDER BY seq
"""
UNPLACED_TURNS = f"""
    SELECT {", ".join(TURN_COLUMNS)}
      FROM messages
     WHERE session_id = :session_id
       AND seq IS NULL
     ORDER BY id
"""
GET = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE id = :id
"""
COUNT_ALL = """
    SELECT COALESCE(SUM(message_count), 0)
      FROM sessions
"""
COUNT_ONE = """
    SELECT message_count
      FROM sessions
     WHERE id = :id
"""
TERMS = """
    SELECT COALESCE(term, 0)
      FROM messages
     WHERE session_id = :session_id
"""
EMPTIED = """
    UPDATE sessions
       SET ledger = :ledger,
           message_count = 0,
           tool_call_count = 0,
           last_active = NULL
     WHERE id = :session_id
"""
SET_ACTIVE = """
    UPDATE messages
       SET active = :active
     WHERE session_id = :session_id
       AND seq > :after
       AND active <> :active
"""
CALLS_OF_HIDDEN = """
    SELECT COUNT(*)
      FROM tool_calls t
      JOIN messages m ON m.id = t.message_id
     WHERE t.session_id = :session_id
       AND m.seq > :after
       AND m.active <> :active
"""
KEYED = """
    SELECT message_key, session_id
      FROM messages
     WHERE session_id IN (%s)
       AND message_key IN (%s)
"""
RECOUNT = """
    UPDATE sessions
       SET message_count = message_count + :messages,
           tool_call_count = tool_call_count + :calls
     WHERE id = :session_id
"""
CALLS = f"""
    SELECT {", ".join(TOOL_CALL_COLUMNS)}
      FROM tool_calls
     WHERE session_id = :session_id
     ORDER BY id
"""
MEDIA = f"""
    SELECT {", ".join(MEDIA_REF_COLUMNS)}
      FROM media_refs
     WHERE session_id = :session_id
     ORDER BY id
"""
_FIRST, _LAST = -1, 1 << 31


def remove_messages(tx: Tx, session_id: str) -> tuple[int, int] | None:
    """Delete all messages of a session with what hangs on them; (last_seq, ledger) after it, None if unknown."""
    found = tx.row(LEDGER, {"session_id": session_id})
    if found is None:
        return None
    left = ledger.minus(found[1], (row[0] for row in tx.rows(TERMS, {"session_id": session_id})))
    for table in ("tool_calls", "media_refs", "messages"):
        tx.run(f"DELETE FROM {table} WHERE session_id = :session_id", {"session_id": session_id})
    tx.run(EMPTIED, {"session_id": session_id, "ledger": left})
    return found[0], left


class MessagePrimitives(SessionDBProvider):
    driver: Driver

    def append(self, session_id: str, messages: Sequence[Draft], *, expected_seq: int | None = None) -> list[int]:
        try:
            if expected_seq is None and len(messages) == 1 and messages[0].values["message_key"] is None:
                draft = messages[0]
                return [self.driver.write(lambda tx: appends.append_one(tx, session_id, draft))]
            return self.driver.write(lambda tx: appends.append_many(tx, session_id, messages, expected_seq))
        except appends.Adrift:
            return self.driver.write(lambda tx: appends.append_after_adoption(tx, session_id, messages, expected_seq))

    @read
    def get_messages(
        self,
        tx: Tx,
        session_id: str,
        *,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        include_inactive: bool = False,
    ) -> list[MessageRow]:
        params = {
            "session_id": session_id,
            "after": _FIRST if after is None else after,
            "before": _LAST if before is None else before,
            "active": 0 if include_inactive else 1,
            "limit": -1 if limit is None else limit,
            "offset": 0,
        }
        found = tx.rows(PLACED % ("DESC" if newest else "ASC"), params)
        if newest:
            found.reverse()
        if before is None and (limit is None or len(found) < limit):
            found += tx.rows(UNPLACED, {"session_id": session_id})[: None if limit is None else limit - len(found)]
        return rows.messages(found)

    def get_turns(self, session_id: str) -> list[Turn]:
        return [_turn(row) for row in self._turn_rows(session_id)]

    @read
    def _turn_rows(self, tx: Tx, session_id: str) -> list[Row]:
        found = tx.rows(TURNS, {"session_id": session_id})
        return found + tx.rows(UNPLACED_TURNS, {"session_id": session_id})

    @read
    def find_keys(self, tx: Tx, session_ids: Sequence[str], keys: Sequence[str]) -> dict[str, str]:
        if not session_ids or not keys:
            return {}
        sessions, params = marks("session", session_ids)
        names, more = marks("key", keys)
        found = tx.rows(KEYED % (sessions, names), params | more)
        return {unescape(key): unescape(session_id) for key, session_id in found}

    @read
    def get_message(self, tx: Tx, message_id: int) -> MessageRow | None:
        found = tx.row(GET, {"id": message_id})
        return None if found is None else rows.message(found)

    @read
    def found_messages(self, tx: Tx, message_ids: Sequence[int]) -> list[tuple[MessageRow, SessionRow]]:
        found: list[Row] = []
        for start in range(0, len(message_ids), _TOGETHER):
            names, params = marks("id", message_ids[start : start + _TOGETHER])
            found += tx.rows(FOUND % names, params)
        return [(rows.message(row), _facts(row)) for row in found]

    @read
    def count_messages(self, tx: Tx, session_id: str | None = None) -> int:
        found = tx.row(COUNT_ALL) if session_id is None else tx.row(COUNT_ONE, {"id": session_id})
        return int(found[0]) if found else 0

    @write
    def replace_messages(self, tx: Tx, session_id: str, messages: Sequence[Draft]) -> list[int]:
        adopt_all(tx, session_id)
        left = remove_messages(tx, session_id)
        if left is None:
            raise appends.no_session(session_id)
        ids = appends.place(tx, session_id, *left, appends.fresh(messages, ()))
        return appends.ids_of(messages, ids)

    @write
    def clear_messages(self, tx: Tx, session_id: str) -> None:
        adopt_all(tx, session_id)
        remove_messages(tx, session_id)

    @write
    def set_active(self, tx: Tx, session_id: str, after: int, active: bool) -> int:
        params = {"session_id": session_id, "after": after, "active": int(active)}
        # The session's row first, as every writer does: what is counted here must not change before it is booked.
        tx.row(LEDGER, params)
        calls = tx.row(CALLS_OF_HIDDEN, params)
        changed = tx.run(SET_ACTIVE, params)
        sign = 1 if active else -1
        tx.run(
            RECOUNT, {"session_id": session_id, "messages": sign * changed, "calls": sign * (calls[0] if calls else 0)}
        )
        return changed

    def stored_messages(self, session_id: str) -> Iterator[dict[str, Any]]:
        last, wanted = _FIRST, rows.AT_FIRST
        while batch := self._stored_batch(session_id, last, wanted):
            yield from batch
            if len(batch) < wanted:
                break
            last, wanted = batch[-1]["seq"], rows.fitting(batch)
        yield from self._unplaced(session_id)

    @read
    def _stored_batch(self, tx: Tx, session_id: str, after: int, limit: int) -> list[dict[str, Any]]:
        params = {"session_id": session_id, "after": after, "before": _LAST, "active": 0, "limit": limit, "offset": 0}
        return [rows.stored_message(row) for row in tx.rows(PLACED % "ASC", params)]

    @read
    def _unplaced(self, tx: Tx, session_id: str) -> list[dict[str, Any]]:
        return [rows.stored_message(row) for row in tx.rows(UNPLACED, {"session_id": session_id})]

    @read
    def get_tool_calls(self, tx: Tx, session_id: str) -> list[ToolCallRow]:
        found = tx.rows(CALLS, {"session_id": session_id})
        return [rows.named(TOOL_CALL_COLUMNS, row) for row in found]  # type: ignore[misc]

    @read
    def get_media_refs(self, tx: Tx, session_id: str) -> list[MediaRefRow]:
        found = tx.rows(MEDIA, {"session_id": session_id})
        return [media_ref_row(rows.named(MEDIA_REF_COLUMNS, row)) for row in found]

    def scan_messages(
        self, where: Filter, messages: MessageFilter, *, newest: bool = True, batch: int = 500
    ) -> Iterator[tuple[MessageRow, SessionRow]]:
        cursor, joined = None, BY_SESSIONS if self._is_narrow(where) else BY_MESSAGES
        while found := self._scanned(where, messages, newest, batch, cursor, joined):
            yield from found
            cursor = found[-1][0]["id"]

    def _is_narrow(self, where: Filter) -> bool:
        """Whether few sessions may pass."""
        if replace(where, sources=None, exclude_sources=()) != Filter():
            return True
        return where.sources is not None and self.count_sessions(where) <= FEW_SESSIONS

    @read
    def _scanned(
        self, tx: Tx, where: Filter, messages: MessageFilter, newest: bool, batch: int, cursor: int | None, joined: str
    ) -> list[tuple[MessageRow, SessionRow]]:
        chosen = sessions_where(where)
        messages_where(chosen, messages)
        if cursor is not None:
            chosen.add("m.id < :cursor" if newest else "m.id > :cursor", cursor=cursor)
        found = tx.rows(
            f"""
            {WITH_FACTS}
              {joined}
             WHERE {chosen.sql}
             ORDER BY m.id {"DESC" if newest else "ASC"}
             {{page}}
            """,
            chosen.params | {"limit": batch, "offset": 0},
        )
        return [(rows.message(row), _facts(row)) for row in found]


def _turn(row: Row) -> Turn:
    for value in row:
        if value.__class__ is str and not value.isascii() and MARK in value:
            row = tuple(unescape(each) if isinstance(each, str) else each for each in row)
            break
    return turn(*row)


def _facts(row: tuple[Any, ...]) -> SessionRow:
    source, model, title, started_at = row[-4:]
    return {
        "id": unescape(row[1]),
        "source": unescape(source),
        "model": unescape(model) if model else model,
        "title": unescape(title) if title else title,
        "started_at": started_at,
    }
