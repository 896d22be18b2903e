"""Hermes Agent: `state.db` of any version, and the files it wrote before.

Columns came and went; what a table has is asked, never told from its version.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ImportProblem
from . import hermes_files, packed
from .base import Message, Record, Session, Skipped, Usage
from .hermes_rows import decoded, parts, relation
from .source import ForeignTables, Source
from .texts import count_of, is_injected, when

NAME = "hermes"
_MAGIC = b"SQLite format 3\x00"
_PLAIN = (
    "source", "end_reason", "model", "cwd", "git_branch", "user_id", "session_key", "chat_id", "chat_type", "thread_id",
    "display_name", "billing_provider", "billing_base_url", "billing_mode",
)  # fmt: skip
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_USAGE_FACTS = ("cost_status", "cost_source", "pricing_version")
_TITLE_SOURCES = {"user": "user", "llm": "llm", "agent": "agent"}
_KEPT = ("origin_json", "profile_name", "git_repo_root", "api_call_count", "handoff_state", "handoff_platform")
_KEPT_OF_MESSAGE = ("platform_message_id", "effect_disposition", "display_kind", "codex_message_items", "api_content")


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return [Path(env["HERMES_HOME"]) if env.get("HERMES_HOME") else home / ".hermes"]


def find(root: Path) -> Iterator[Path]:
    for pattern in ("state.db", "profiles/*/state.db"):
        yield from root.glob(pattern)
    for pattern in ("sessions", "profiles/*/sessions"):
        for directory in root.glob(pattern):
            found = directory.glob("*.json*")
            yield from (path for path in found if hermes_files.is_transcript(packed.plain_name(path)))


def beside(path: Path) -> str | None:
    return hermes_files.entries_digest(path) if hermes_files.is_transcript(path) else None


def detect(path: Path, head: bytes) -> bool:
    if head.startswith(_MAGIC):
        return _has_tables(path)
    return hermes_files.detect(path, head)


def _has_tables(path: Path) -> bool:
    try:
        with Source(path).tables() as tables:
            sessions, messages = {*tables.columns("sessions")}, {*tables.columns("messages")}
    except ImportProblem:
        return False
    # A store of our own has a ledger; its sessions come over with `sessiondb export`.
    has_all = {"id", "source", "started_at"} <= sessions and {"session_id", "role", "content"} <= messages
    return has_all and "ledger" not in sessions


def read(source: Source) -> Iterator[Record]:
    with open(source.file, "rb") as file:
        is_database = file.read(len(_MAGIC)) == _MAGIC
    if not is_database:
        yield from hermes_files.read(source)
        return
    with source.tables() as tables:
        yield from _read_tables(tables, source.path)


def _read_tables(tables: ForeignTables, path: Path) -> Iterator[Record]:
    prompts = _prompts(tables)
    ends = {row["id"]: row.get("end_reason") for row in tables.rows("sessions")}
    for row in tables.rows("sessions", order=("started_at", "id")):
        if not row["id"]:
            yield Skipped(path, None, "a session without an id")
            continue
        yield _session(row, prompts, ends)
        yield _usage(row)
        for message in tables.rows("messages", equal={"session_id": row["id"]}, order=("display_order", "id")):
            yield _message(message)


def _prompts(tables: ForeignTables) -> dict[Any, str]:
    """Since they were moved out, prompts are kept once under their hash."""
    if "system_prompts" not in tables.tables():
        return {}
    return {row.get("hash"): row.get("prompt") or "" for row in tables.rows("system_prompts")}


def _session(row: Mapping[str, Any], prompts: Mapping[Any, str], ends: Mapping[str, Any]) -> Session:
    plain: dict[str, Any] = {name: _text(row.get(name)) for name in _PLAIN}
    title = _text(row.get("title"))
    parent = _text(row.get("parent_session_id"))
    last = when(row.get("last_activity_at"))
    return Session(
        str(row["id"]),
        **plain,
        title=title,
        title_source=_TITLE_SOURCES.get(str(row.get("title_source")), "agent") if title else None,
        started_at=when(row.get("started_at")),
        ended_at=when(row.get("ended_at")),
        model_config=_text(row.get("model_config")),
        system_prompt=_text(row.get("system_prompt")) or prompts.get(row.get("system_prompt_hash")),
        parent_native_id=parent,
        relation=relation(row, ends.get(parent)) if parent else None,
        archived_at=(last or when(row.get("started_at"))) if row.get("archived") else None,
        pinned_at=(last or when(row.get("started_at"))) if row.get("pinned") else None,
        has_twins=True,
        metadata={name: row[name] for name in _KEPT if row.get(name)} or None,
    )


def _usage(row: Mapping[str, Any]) -> Usage:
    known: dict[str, Any] = {name: count_of(row.get(name)) for name in _TOKENS}
    for name in ("estimated_cost_usd", "actual_cost_usd"):
        cost = row.get(name)
        known[name] = float(cost) if isinstance(cost, int | float) else None
    known |= {name: _text(row.get(name)) for name in _USAGE_FACTS}
    return Usage(**known)


def _message(row: Mapping[str, Any]) -> Message:
    content = _content(row.get("content"))
    role = str(row.get("role"))
    hidden = row.get("display_kind") == "hidden" or bool(row.get("_compressed_summary"))
    return Message(
        role,
        content,
        when(row.get("timestamp")),
        str(row["id"]),
        tool_calls=_calls(row.get("tool_calls")),
        tool_call_id=_text(row.get("tool_call_id")),
        tool_name=_text(row.get("tool_name")),
        reasoning=_text(row.get("reasoning")) or _text(row.get("reasoning_content")),
        reasoning_details=decoded(row.get("reasoning_details")),
        codex_reasoning_items=decoded(row.get("codex_reasoning_items")),
        token_count=count_of(row.get("token_count")) or None,
        finish_reason=_text(row.get("finish_reason")),
        injected=role == "user" and (hidden or is_injected(content)),
        active=row.get("active") is None or bool(row["active"]),
        metadata=_kept(row),
    )


def _kept(row: Mapping[str, Any]) -> dict[str, Any] | None:
    kept = {name: row[name] for name in _KEPT_OF_MESSAGE if row.get(name)}
    if row.get("compacted"):
        kept["compacted"] = True
    return kept or None


def _content(value: Any) -> Any:
    """Text, or the parts of a multimodal message, which are stored as JSON."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    marked = parts(value)
    if marked is not None:
        return marked
    if isinstance(value, str) and value.startswith('[{"'):
        found = decoded(value)
        structured = isinstance(found, list) and all(isinstance(part, dict) and "type" in part for part in found)
        return found if structured else value
    return value if value is None or isinstance(value, str) else str(value)


def _calls(value: Any) -> Any:
    calls = decoded(value)
    return calls if isinstance(calls, list | dict) else None


def _text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else os.fsdecode(value) if isinstance(value, bytes) else str(value)
