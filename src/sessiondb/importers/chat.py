"""Messages in the shape of the OpenAI chat API, which many agents store as they sent them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .base import Message
from .texts import is_injected, when, words_of

ROLES = frozenset({"user", "assistant", "system", "tool", "developer", "function"})
_KNOWN = frozenset({
    "role", "content", "name", "tool_calls", "tool_call_id", "tool_name", "timestamp", "reasoning",
    "reasoning_content", "reasoning_details", "codex_reasoning_items", "finish_reason", "model", "id", "function_call",
})  # fmt: skip


def message(values: Mapping[str, Any], **fields: Any) -> Message:
    """A message as the API has it; what it does not know is kept in `metadata`, a strange role as a meta record."""
    role = values.get("role")
    if role not in ROLES:
        return Message("meta", json.dumps(values, ensure_ascii=False, default=str), injected=True, **fields)
    content = values.get("content")
    if not isinstance(content, str | list | dict | None):
        content = json.dumps(content, ensure_ascii=False, default=str)
    calls = values.get("tool_calls") or _function_call(values.get("function_call"))
    made: dict[str, Any] = {
        "content": content,
        "timestamp": when(values.get("timestamp")),
        "tool_calls": calls if isinstance(calls, list | dict) else None,
        "tool_call_id": _text(values.get("tool_call_id")),
        "tool_name": _text(values.get("tool_name") or (values.get("name") if role in ("tool", "function") else None)),
        "reasoning": words_of(values.get("reasoning")) or words_of(values.get("reasoning_content")),
        "reasoning_details": values.get("reasoning_details"),
        "codex_reasoning_items": values.get("codex_reasoning_items"),
        "finish_reason": _text(values.get("finish_reason")),
        "model": _text(values.get("model")),
        "injected": role == "user" and is_injected(_first_text(content)),
        "metadata": {key: value for key, value in values.items() if key not in _KNOWN} or None,
    }
    return Message(role, **made | fields)


def _function_call(call: Any) -> list[dict[str, Any]] | None:
    """The older form of a tool call."""
    return [{"type": "function", "function": call}] if isinstance(call, dict) else None


def _text(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else str(value)


def _first_text(content: Any) -> str | None:
    if isinstance(content, list):
        content = next((part.get("text") for part in content if isinstance(part, dict) and part.get("text")), None)
    return content if isinstance(content, str) else None
