"""Sessions: created, changed, titled, tagged, listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import Conflict
from ...models import Draft, Filter, ListedSession, Order, Page, SessionRow
from ...rows import preview, session_row
from .admission import new_session
from .conversation import check_positions, store, unseen
from .selection import cut, last_active, newest_first, select
from .tables import MemoryBase, Session, read, write

FILLED_ONCE = ("model", "billing_provider", "billing_base_url", "billing_mode")


class Sessions(MemoryBase):
    @write
    def create_session(
        self, row: Mapping[str, Any], messages: Sequence[Draft] = (), *, tags: Sequence[str] = ()
    ) -> bool:
        tables = self.tables
        if row["id"] in tables.sessions:
            return False
        session = new_session(tables, row)
        check_positions(session.id, unseen(messages), 0)
        if messages:
            session.values["last_active"] = None
        store(tables, session, messages)
        session.values["last_seq"] = max(session.values["last_seq"], row.get("last_seq") or 0)
        session.tags.update(tags)
        tables.sessions[session.id] = session
        return True

    @read
    def get_session(self, session_id: str) -> SessionRow | None:
        session = self.tables.sessions.get(session_id)
        return None if session is None else session_row(dict(session.values))

    @write
    def update_session(self, session_id: str, changes: Mapping[str, Any], *, unless_set: str | None = None) -> bool:
        session = self.tables.sessions.get(session_id)
        if session is None or (unless_set is not None and session.values[unless_set] is not None):
            return False
        self._check_parent(session, changes.get("parent_session_id"))
        session.values.update(changes)
        return True

    def _check_parent(self, session: Session, parent: str | None) -> None:
        self.tables.check_parent(parent)
        continued = None if parent is None else self.tables.continuation(parent)
        if continued not in (None, session) and session.values["relation"] == "compression":
            raise Conflict(f"session {parent!r} is already continued by {continued.id!r}")

    @write
    def add_usage(
        self, session_id: str, amounts: Mapping[str, float | None], facts: Mapping[str, str | None], *, absolute: bool
    ) -> bool:
        session = self.tables.sessions.get(session_id)
        if session is None:
            return False
        values = session.values
        for column, amount in amounts.items():
            if amount is not None:
                values[column] = amount if absolute else (values[column] or 0) + amount
        for column, fact in facts.items():
            if fact is not None and (values[column] is None or column not in FILLED_ONCE):
                values[column] = fact
        return True

    @write
    def set_title(self, session_id: str, title: str | None, source: str | None, *, only_if_empty: bool = False) -> bool:
        session = self.tables.sessions.get(session_id)
        if session is None or (only_if_empty and session.values["title"] is not None):
            return False
        self.tables.check_title(title, own_id=session_id)
        session.values.update(title=title, title_source=None if title is None else source)
        return True

    @read
    def find_titles(self, prefix: str) -> list[SessionRow]:
        sessions = self.tables.sessions.values()
        titled = [each for each in sessions if each.values["title"] is not None]
        found = [each for each in titled if each.values["title"].startswith(prefix)]
        return [session_row(dict(each.values)) for each in newest_first(found)]

    @read
    def find_ids(self, prefix: str, limit: int) -> list[str]:
        return sorted(each for each in self.tables.sessions if each.startswith(prefix))[:limit]

    @read
    def list_sessions(self, where: Filter, page: Page, order: Order) -> list[ListedSession]:
        found = newest_first(select(self.tables, where), order)
        return [_listed(session) for session in cut(found, page)]

    @read
    def count_sessions(self, where: Filter) -> int:
        return len(select(self.tables, where))

    @write
    def change_tags(self, session_id: str, add: Sequence[str], remove: Sequence[str]) -> list[str]:
        session = self.tables.session(session_id)
        session.tags = session.tags.union(add).difference(remove)
        return sorted(session.tags)


def _listed(session: Session) -> ListedSession:
    row = session_row(dict(session.values))
    return {**row, "preview": _first_prompt(session), "last_active": last_active(session.values)}


def _first_prompt(session: Session) -> str:
    for message in session.messages:
        prompt = message["role"] == "user" and message["active"] and not message["injected"]
        if prompt and message["content"] is not None:
            return preview(message["content"], message["content_type"])
    return ""
