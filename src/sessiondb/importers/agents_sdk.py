"""OpenAI Agents SDK: the file of a `SQLiteSession`, wherever the program keeps it.

A session's name is chosen by the program (`user_42`), and another program may choose the same: together with the time
it began it is unique.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import databases, exports
from .base import Message, Record, Session, Skipped, Usage
from .parts import blocks_of, body, list_of, object_of, said, text_of, tool_call
from .source import ForeignTables, Source
from .texts import count_of, is_injected, when, words_of

NAME = "openai-agents"
roots = exports.roots
_TABLES = {"agent_sessions": ("session_id", "created_at"), "agent_messages": ("id", "session_id", "message_data")}
_ROLES = frozenset({"user", "assistant", "system", "developer"})


def find(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if path.suffix in (".db", ".sqlite", ".sqlite3") and databases.is_file(path) and databases.has(path, _TABLES):
            yield path


def detect(path: Path, head: bytes) -> bool:
    return databases.is_database(head) and databases.has(path, _TABLES)


def read(source: Source) -> Iterator[Record]:
    with source.tables() as tables:
        for row in tables.rows("agent_sessions", order=("created_at", "session_id")):
            yield from _session(source.path, row, tables)


def _session(path: Path, row: Mapping[str, Any], tables: ForeignTables) -> Iterator[Record]:
    name, begun = str(row["session_id"]), str(row.get("created_at") or "")
    rows = list(tables.rows("agent_messages", equal={"session_id": row["session_id"]}, order=("id",)))
    if not rows:
        return
    yield Session(f"{name}@{begun.replace(' ', 'T')}", started_at=_utc(begun), session_key=name)
    encrypted = 0
    for each in rows:
        item = databases.decoded(each.get("message_data"))
        if not isinstance(item, dict):
            yield Skipped(path, None, f"message {each['id']} of {name} is no JSON object")
        elif "__enc__" in item:
            encrypted += 1
        else:
            yield _message(item, str(each["id"]), _utc(each.get("created_at")))
    if encrypted:
        yield Skipped(path, None, f"{encrypted:,} encrypted messages of {name}")
    yield from _usage(name, tables)


def _utc(value: Any) -> float | None:
    text = words_of(value)
    return None if text is None else when(f"{text}+00:00") or when(text)


def _message(item: Mapping[str, Any], name: str, moment: float | None) -> Message:
    kind, role = words_of(item.get("type")) or "message", words_of(item.get("role"))
    fields: dict[str, Any] = {"timestamp": moment, "native_id": name}
    if kind == "message" and role in _ROLES:
        content = body(blocks_of(item.get("content")))
        is_note = role != "assistant" and (role != "user" or is_injected(content))
        return Message(role, content or None, injected=is_note, **fields)
    if kind == "function_call":
        call = tool_call(item.get("call_id"), item.get("name"), item.get("arguments"))
        return Message("assistant", tool_calls=[call], **fields)
    if kind == "function_call_output":
        return Message(
            "tool", body(blocks_of(item.get("output"))), tool_call_id=words_of(item.get("call_id")), **fields
        )
    if kind == "reasoning":
        thoughts = [*list_of(item.get("summary")), *list_of(item.get("content"))]
        text = said(text_of({"type": "text", "text": object_of(each).get("text")}) or "" for each in thoughts)
        return Message("assistant", reasoning=text or None, **fields)
    return Message("meta", dict(item), injected=True, **fields)


def _usage(name: str, tables: ForeignTables) -> Iterator[Usage]:
    """Where an `AdvancedSQLiteSession` counted."""
    if "turn_usage" in tables.tables():
        turns = list(tables.rows("turn_usage", equal={"session_id": name}))
        yield Usage(
            sum(count_of(turn.get("input_tokens")) for turn in turns),
            sum(count_of(turn.get("output_tokens")) for turn in turns),
        )
