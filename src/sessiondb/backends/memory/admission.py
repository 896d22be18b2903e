"""New sessions: checked against the others before they enter the tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import Conflict
from ...models import SESSION_COLUMNS, SESSION_COUNTERS, TOKEN_COLUMNS
from .tables import Row, Session, Tables

# What the end of the parent tells about a child that does not say what it is.
RELATIONS = {"branched": "fork", "session_reset": "reset"}
_ZEROS = dict.fromkeys(("message_count", "tool_call_count", "last_seq", "ledger", *TOKEN_COLUMNS), 0)
_GIVEN = tuple(column for column in SESSION_COLUMNS if column not in SESSION_COUNTERS)


def new_session(tables: Tables, row: Mapping[str, Any]) -> Session:
    """An empty session, not yet in the tables; raises NotFound, Conflict or TitleTaken."""
    tables.check_parent(row.get("parent_session_id"))
    relation = _relation(tables, row)
    tables.check_title(row.get("title"))
    given = {column: row[column] for column in _GIVEN if row.get(column) is not None}
    values: Row = {**dict.fromkeys(SESSION_COLUMNS), **_ZEROS, **given}
    values.update(relation=relation, last_message_id=tables.last_ids["messages"])
    return Session(values)


def _relation(tables: Tables, row: Mapping[str, Any]) -> str:
    parent_id, relation = row.get("parent_session_id"), row.get("relation")
    heir = None if parent_id is None else tables.continuation(parent_id)
    if relation == "compression" and heir is not None:
        raise Conflict(f"session {parent_id!r} is continued by {heir.id!r} already; append there or fork it")
    if parent_id is None:
        return relation or "root"
    if relation not in (None, "root"):
        return str(relation)
    reason = tables.sessions[parent_id].values["end_reason"]
    if reason == "compression" and heir is None:
        return "compression"
    return RELATIONS.get(reason, "subagent")
