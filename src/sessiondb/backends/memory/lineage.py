"""Parents, children and continuations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ... import titles
from ...errors import AlreadyExists
from ...models import Draft, SessionRow
from ...rows import session_row
from .admission import new_session
from .conversation import store
from .tables import MemoryBase, Row, Session, Tables, by_start, read, write

INHERITED = (
    "source", "user_id", "model", "model_config", "system_prompt", "session_key", "chat_id", "chat_type",
    "thread_id", "display_name", "cwd", "git_branch", "character_id", "host",
)  # fmt: skip


class Lineage(MemoryBase):
    @read
    def ancestors(self, session_id: str) -> list[SessionRow]:
        sessions = self.tables.sessions
        chain: dict[str, Session] = {}
        current = sessions.get(session_id)
        while current is not None and current.id not in chain:
            chain[current.id] = current
            current = sessions.get(current.values["parent_session_id"])
        return [session_row(dict(each.values)) for each in list(chain.values())[1:]]

    @read
    def descendants(self, session_id: str) -> list[SessionRow]:
        tables = self.tables
        seen = {session_id}
        found: list[Session] = []
        generation = [session_id]
        while generation:
            born = [child for parent in generation for child in tables.children(parent) if child.id not in seen]
            found += sorted(born, key=by_start)
            generation = [child.id for child in born]
            seen.update(generation)
        return [session_row(dict(each.values)) for each in found]

    @write
    def rotate(self, session_id: str, child: Mapping[str, Any], messages: Sequence[Draft] = ()) -> str:
        tables = self.tables
        parent = tables.session(session_id)
        existing = tables.continuation(session_id)
        if existing is not None:
            return existing.id
        if child["id"] in tables.sessions:
            raise AlreadyExists(f"session {child['id']!r} exists; give the continuation another id")
        heir = new_session(tables, _heir(tables, parent.values, child))
        if messages:
            heir.values["last_active"] = None
        store(tables, heir, messages)
        tables.sessions[heir.id] = heir
        _end(parent.values, heir.values["started_at"])
        return heir.id


def _heir(tables: Tables, parent: Row, child: Mapping[str, Any]) -> Row:
    given = {column: value for column, value in child.items() if value is not None}
    inherited = {column: parent[column] for column in INHERITED}
    link = {"parent_session_id": parent["id"], "relation": "compression"}
    return {**inherited, **given, **link, **_next_title(tables, parent)}


def _next_title(tables: Tables, parent: Row) -> Row:
    if parent["title"] is None:
        return {}
    base, _ = titles.split(parent["title"])
    return {"title": titles.next_in_lineage(base, tables.titles()), "title_source": parent["title_source"]}


def _end(parent: Row, ended_at: float) -> None:
    if parent["ended_at"] is None:
        parent["ended_at"] = ended_at
    parent["end_reason"] = "compression"
