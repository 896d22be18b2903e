"""Messages: appended, read, replaced, hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from ...errors import Conflict
from ...models import Draft, Filter, MediaRefRow, MessageFilter, MessageRow, SessionRow, ToolCallRow
from ...rows import media_ref_row, message_row
from .conversation import check_positions, known_keys, store, unseen, wipe
from .selection import select, wanted
from .tables import MemoryBase, Row, Session, read, write

FACTS = ("id", "source", "model", "title", "started_at")


class Messages(MemoryBase):
    @write
    def append(self, session_id: str, messages: Sequence[Draft], *, expected_seq: int | None = None) -> list[int]:
        session = self.tables.session(session_id)
        fresh = unseen(messages, known_keys(session, messages))
        if fresh:
            _check_expected(session, expected_seq)
            check_positions(session_id, fresh, session.values["last_seq"])
        return store(self.tables, session, messages)

    @read
    def get_messages(
        self,
        session_id: str,
        *,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        include_inactive: bool = False,
    ) -> list[MessageRow]:
        session = self.tables.sessions.get(session_id)
        found = [
            row
            for row in (session.messages if session else [])
            if (after is None or row["seq"] > after)
            and (before is None or row["seq"] < before)
            and (include_inactive or row["active"])
        ]
        if limit is not None:
            found = found[max(len(found) - limit, 0) :] if newest else found[:limit]
        return [message_row(dict(row)) for row in found]

    @read
    def get_message(self, message_id: int) -> MessageRow | None:
        for session in self.tables.sessions.values():
            for row in session.messages:
                if row["id"] == message_id:
                    return message_row(dict(row))
        return None

    @read
    def count_messages(self, session_id: str | None = None) -> int:
        sessions = self.tables.sessions
        counted = sessions.values() if session_id is None else filter(None, [sessions.get(session_id)])
        return sum(each.values["message_count"] for each in counted)

    @write
    def replace_messages(self, session_id: str, messages: Sequence[Draft]) -> list[int]:
        session = self.tables.session(session_id)
        check_positions(session_id, unseen(messages), session.values["last_seq"])
        wipe(session)
        return store(self.tables, session, messages)

    @write
    def clear_messages(self, session_id: str) -> None:
        session = self.tables.sessions.get(session_id)
        if session is not None:
            wipe(session)

    @write
    def set_active(self, session_id: str, after: int, active: bool) -> int:
        session = self.tables.sessions.get(session_id)
        if session is None:
            return 0
        changed = [row for row in session.messages if row["seq"] > after and bool(row["active"]) != active]
        for row in changed:
            row["active"] = int(active)
        _recount(session, changed, 1 if active else -1)
        return len(changed)

    @read
    def stored_messages(self, session_id: str) -> Iterator[dict[str, Any]]:
        session = self.tables.sessions.get(session_id)
        return iter([dict(row) for row in session.messages] if session else [])

    @read
    def get_tool_calls(self, session_id: str) -> list[ToolCallRow]:
        session = self.tables.sessions.get(session_id)
        return [cast(ToolCallRow, dict(row)) for row in session.tool_calls] if session else []

    @read
    def get_media_refs(self, session_id: str) -> list[MediaRefRow]:
        session = self.tables.sessions.get(session_id)
        return [media_ref_row(dict(row)) for row in session.media_refs] if session else []

    @read
    def scan_messages(
        self, where: Filter, messages: MessageFilter, *, newest: bool = True, batch: int = 500
    ) -> Iterator[tuple[MessageRow, SessionRow]]:
        # A snapshot, taken at the call: the lock is free while the caller works.
        found = [
            (dict(row), _facts(session))
            for session in select(self.tables, where)
            for row in session.messages
            if wanted(row, messages)
        ]
        found.sort(key=lambda pair: pair[0]["id"], reverse=newest)
        return ((message_row(row), facts) for row, facts in found)


def _check_expected(session: Session, expected_seq: int | None) -> None:
    last_seq = session.values["last_seq"]
    if expected_seq is not None and expected_seq != last_seq:
        raise Conflict(
            f"session {session.id!r} is at position {last_seq}, not {expected_seq}; read what is new and try again"
        )


def _recount(session: Session, changed: list[Row], sign: int) -> None:
    ids = {row["id"] for row in changed}
    calls = sum(call["message_id"] in ids for call in session.tool_calls)
    session.values["message_count"] += sign * len(changed)
    session.values["tool_call_count"] += sign * calls


def _facts(session: Session) -> SessionRow:
    return cast(SessionRow, {name: session.values[name] for name in FACTS})
