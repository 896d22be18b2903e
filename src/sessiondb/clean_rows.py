"""Rows without their credentials: which columns hold text, which JSON, and what becomes of them; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import jsontext
from .redact import redact, redacted
from .rows import decoded

TEXTS = {
    "sessions": ("title", "system_prompt", "display_name", "billing_base_url", "cwd", "git_branch"),
    "messages": ("content", "reasoning"),
    "tool_calls": ("arguments", "result_summary"),
    "media_refs": ("path",),
}
DOCUMENTS = {
    "sessions": ("model_config", "metadata"),
    "messages": ("tool_calls", "reasoning_details", "codex_reasoning_items", "metadata"),
    "tool_calls": (),
    "media_refs": ("metadata",),
}
_MESSAGE = (*TEXTS["messages"], *DOCUMENTS["messages"])


def changes(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row as stored that become different, without their credentials."""
    found = {name: redact(row[name]) for name in TEXTS[table] if row[name] and not _is_document(table, name, row)}
    found |= {name: _document(row[name]) for name in DOCUMENTS[table] if row[name]}
    if _is_document(table, "content", row):
        found["content"] = _document(row["content"])
    return {name: value for name, value in found.items() if value != row[name]}


def _is_document(table: str, name: str, row: Mapping[str, Any]) -> bool:
    return table == "messages" and name == "content" and row["content_type"] == "json" and bool(row["content"])


def _document(text: Any) -> Any:
    """JSON text, or what was read from it, with every text in it clean; the spelling of a clean one stays."""
    value = decoded(text) if isinstance(text, str) else text
    clean = redacted(value)
    if clean == value:
        return text
    return clean if isinstance(clean, str) else jsontext.dumps(clean)


def message(given: Mapping[str, Any]) -> dict[str, Any]:
    """A message as callers give it, clean."""
    return {name: redacted(value) if name in _MESSAGE else value for name, value in given.items()}


def media(row: Mapping[str, Any]) -> dict[str, Any]:
    """A media reference as callers see it, clean."""
    return {name: redacted(value) if name in ("path", "metadata") else value for name, value in row.items()}


def read_session(row: Mapping[str, Any]) -> dict[str, Any]:
    """A session as callers see it, clean."""
    found = changes("sessions", row)
    if "metadata" in found:
        found["metadata"] = decoded(found["metadata"])
    return {**row, **found}


def session(values: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of a session, clean; those that are not there stay away."""
    row = {**dict.fromkeys((*TEXTS["sessions"], *DOCUMENTS["sessions"])), **values}
    return {**values, **changes("sessions", row)}
