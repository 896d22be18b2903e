"""Lineage: up, down, and on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import AlreadyExists
from ..models import SESSION_COLUMNS, Draft, SessionRow
from ..provider import SessionDBProvider
from . import rows
from .driver import Driver, Tx, read, write
from .escape import unescape
from .filters import marks
from .sessions import CONTINUATION, GET, STATE, insert_session, next_title, no_session

CHILDREN = f"""
    SELECT {rows.prefixed(SESSION_COLUMNS, "s")}
      FROM sessions s
     WHERE s.parent_session_id IN (%s)
     ORDER BY s.started_at, s.id
"""
END_COMPRESSED = """
    UPDATE sessions
       SET ended_at = COALESCE(ended_at, :now), end_reason = 'compression'
     WHERE id = :id
"""
INHERITED = (
    "source", "user_id", "model", "model_config", "system_prompt", "session_key", "chat_id", "chat_type",
    "thread_id", "display_name", "cwd", "git_branch", "character_id", "host",
)  # fmt: skip


class LineagePrimitives(SessionDBProvider):
    driver: Driver

    @read
    def ancestors(self, tx: Tx, session_id: str) -> list[SessionRow]:
        found: list[SessionRow] = []
        seen = {session_id}
        row = tx.row(GET, {"id": session_id})
        while row is not None and (parent := rows.session(row)["parent_session_id"]) is not None and parent not in seen:
            seen.add(parent)
            row = tx.row(GET, {"id": parent})
            if row is not None:
                found.append(rows.session(row))
        return found

    @read
    def descendants(self, tx: Tx, session_id: str) -> list[SessionRow]:
        found: list[SessionRow] = []
        seen = {session_id}
        generation = [session_id]
        while generation:
            below = [row for row in _children(tx, generation) if row["id"] not in seen]
            found += below
            generation = [row["id"] for row in below]
            seen.update(generation)
        return found

    @write
    def rotate(self, tx: Tx, session_id: str, child: Mapping[str, Any], messages: Sequence[Draft] = ()) -> str:
        # The row is ours from here on: of two who rotate at once, the second finds the first one's child.
        if tx.row(STATE, {"id": session_id}) is None:
            raise no_session(session_id)
        found = tx.row(GET, {"id": session_id}) or ()
        existing = tx.row(CONTINUATION, {"id": session_id})
        if existing is not None:
            return unescape(existing[0])
        parent = rows.named(SESSION_COLUMNS, found)
        tx.run(END_COMPRESSED, {"id": session_id, "now": child["started_at"]})
        inherited = {name: parent[name] for name in INHERITED if child.get(name) is None}
        values = {**child, **inherited, "parent_session_id": session_id, "relation": "compression"}
        if parent["title"] is not None:
            values |= {"title": next_title(tx, parent["title"]), "title_source": parent["title_source"]}
        if not insert_session(tx, values, messages, ()):
            raise AlreadyExists(f"session {child['id']!r} exists and is no continuation; give another new_id")
        return str(child["id"])


def _children(tx: Tx, parents: list[str]) -> list[SessionRow]:
    found: list[SessionRow] = []
    for start in range(0, len(parents), 500):
        names, params = marks("parent", parents[start : start + 500])
        found += rows.sessions(tx.rows(CHILDREN % names, params))
    return sorted(found, key=lambda row: (row["started_at"], row["id"]))
