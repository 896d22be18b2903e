"""Conversations in the shape of the OpenAI chat API, one per line: {"messages": [{"role": …, "content": …}]}."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import jsontext
from . import chat, line_lists
from .base import Record, Session, Skipped, Usage
from .line_lists import find, roots
from .source import Source
from .texts import count_of, when

__all__ = ["NAME", "detect", "find", "read", "roots"]
NAME = "openai-chat"
_IDS = ("id", "session_id", "conversation_id", "custom_id")
_TOKENS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}


def detect(path: Path, head: bytes) -> bool:
    return line_lists.detect(path, head, "messages", "role")


def read(source: Source) -> Iterator[Record]:
    for found in line_lists.conversations(source, "messages"):
        if isinstance(found, Skipped):
            yield found
        else:
            yield from _conversation(source.path, *found)


def _conversation(path: Path, line: int, values: Mapping[str, Any], messages: list[Any]) -> Iterator[Record]:
    details = values.get("metadata")
    details = details if isinstance(details, dict) else {}
    yield Session(
        native_id(values, messages),
        source=_text(values.get("source")),
        title=_text(values.get("title")),
        started_at=when(values.get("created_at") or values.get("started_at") or values.get("timestamp")),
        model=_text(values.get("model")),
        cwd=_text(values.get("cwd")),
        metadata=details or None,
    )
    usage = values.get("usage")
    if isinstance(usage, dict):
        known: dict[str, Any] = {ours: count_of(usage.get(theirs)) for theirs, ours in _TOKENS.items()}
        yield Usage(**known)
    for number, message in enumerate(messages, start=1):
        if isinstance(message, dict):
            yield chat.message(message)
        else:
            yield Skipped(path, line, f"message {number} is no object")


def native_id(values: Mapping[str, Any], told: Any) -> str:
    """The id that the line has, or one made of its content: the same conversation is the same session."""
    for name in _IDS:
        if isinstance(values.get(name), str) and values[name]:
            return str(values[name])
    return hashlib.sha256(jsontext.canonical(told).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
