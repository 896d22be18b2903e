"""Rows as programs get them with --json: the documented fields, in a fixed order (docs/json.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SESSION = (
    "id", "title", "preview", "source", "model", "relation", "parent_session_id",
    "started_at", "last_active", "ended_at", "end_reason",
    "message_count", "tool_call_count",
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
    "estimated_cost_usd", "actual_cost_usd",
    "user_id", "chat_id", "session_key", "cwd", "git_branch", "host", "origin", "native_id",
    "archived_at", "pinned_at", "deleted_at", "metadata",
)  # fmt: skip
MESSAGE = (
    "id", "session_id", "seq", "role", "timestamp", "content", "tool_name", "tool_call_id", "tool_calls",
    "reasoning", "finish_reason", "model", "token_count", "active", "metadata",
)  # fmt: skip


def session(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in SESSION if name in row}


def message(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in MESSAGE if name in row}
