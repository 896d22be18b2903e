"""A table of sessions, one row each, without their messages."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any, TextIO

from .base import Conversation
from .markdown import moment

NAME = "csv"
SUFFIXES = (".csv",)
COLUMNS = (
    "id", "title", "source", "model", "started_at", "ended_at", "last_active", "message_count", "tool_call_count",
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
    "estimated_cost_usd", "actual_cost_usd", "cwd", "git_branch", "parent_session_id", "relation", "origin",
    "native_id",
)  # fmt: skip
_TIMES = ("started_at", "ended_at", "last_active")
# A spreadsheet would run these as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(conversations: Iterable[Conversation], out: TextIO) -> None:
    table = csv.writer(out, lineterminator="\n")
    table.writerow([*COLUMNS, "tags"])
    for conversation in conversations:
        session: dict[str, Any] = dict(conversation.session)
        table.writerow([*(_cell(name, session[name]) for name in COLUMNS), _text(" ".join(conversation.tags))])


def _cell(name: str, value: Any) -> Any:
    if value is None:
        return ""
    if name in _TIMES:
        return moment(value)
    return _text(value) if isinstance(value, str) else value


def _text(value: str) -> str:
    harmless = value.encode("utf-8", "replace").decode()
    return f"'{harmless}" if harmless.startswith(_FORMULA) else harmless
