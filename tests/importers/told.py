"""What a store tells about what was imported, in a form to compare."""

from __future__ import annotations

from typing import Any

from sessiondb import SessionDB

FIELDS = ("role", "content", "tool_calls", "tool_call_id", "tool_name", "reasoning", "timestamp", "injected", "active")
FACTS = ("source", "title", "model", "relation", "input_tokens", "output_tokens", "cwd", "message_count")


def told(db: SessionDB) -> dict[str, Any]:
    """Session -> facts and messages, without what belongs to the store."""
    found = {}
    for row in db.list_sessions_rich(include_children=True, limit=10_000):
        facts: dict[str, Any] = {name: row[name] for name in FACTS}  # type: ignore[literal-required]
        messages = db.get_messages(row["id"], include_inactive=True)
        facts["messages"] = [[message[name] for name in FIELDS] for message in messages]  # type: ignore[literal-required]
        found[row["id"]] = facts
    return found


def contents(db: SessionDB, session_id: str) -> list[Any]:
    return [message["content"] for message in db.get_messages(session_id)]


def stored(db: SessionDB, session_id: str) -> Any:
    row = db.get_session(session_id)
    assert row is not None, f"session {session_id!r} should be there"
    return row
