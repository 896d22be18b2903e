"""Stored columns to what callers see; pure."""

from __future__ import annotations

import json
from typing import Any, cast

from .models import ContextLine, MediaRefRow, MessageRow, SessionRow

PREVIEW_LENGTH = 60
SUMMARY_LENGTH = 200
# A preview never needs more characters than these; whole messages may be megabytes.
PREVIEW_READ = 63


_read = json.JSONDecoder().raw_decode


def decoded(text: str) -> Any:
    try:
        value, end = _read(text)
        if end == len(text):
            return value
    except (ValueError, TypeError):
        # Our own spelling has no blanks around it, and is text; others come the longer way.
        pass
    try:
        return json.loads(text)
    except ValueError:
        # Text that older code put there stays readable as it is.
        return text


def session_row(values: dict[str, Any]) -> SessionRow:
    if values["metadata"] is not None:
        values["metadata"] = decoded(values["metadata"])
    return cast(SessionRow, values)


def message_row(values: dict[str, Any]) -> MessageRow:
    if values["content_type"] == "json" and values["content"] is not None:
        values["content"] = decoded(values["content"])
    if values["tool_calls"] is not None:
        values["tool_calls"] = decoded(values["tool_calls"])
    if values["metadata"] is not None:
        values["metadata"] = decoded(values["metadata"])
    return values  # type: ignore[return-value]  # a cast() would be a call for every message


def media_ref_row(values: dict[str, Any]) -> MediaRefRow:
    if values["metadata"] is not None:
        values["metadata"] = decoded(values["metadata"])
    return cast(MediaRefRow, values)


def text_of(content: Any) -> str:
    """The words of a message: its text, or the text parts of structured content."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content"))
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    return ""


def context_line(row: MessageRow) -> ContextLine:
    return {"role": row["role"], "content": text_of(row["content"])}


def stored_text(content: str | None, content_type: str | None) -> str:
    if content is None:
        return ""
    return text_of(decoded(content)) if content_type == "json" else content


def preview(content: str | None, content_type: str | None) -> str:
    """The first words of a conversation on one line; 60 characters, then "..."."""
    text = stored_text(content, content_type)[:PREVIEW_READ].replace("\r", " ").replace("\n", " ")
    return text[:PREVIEW_LENGTH] + "..." if len(text) > PREVIEW_LENGTH else text


def summary(content: str | None, content_type: str | None) -> str:
    return stored_text(content, content_type)[:SUMMARY_LENGTH]
