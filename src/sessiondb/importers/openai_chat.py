"""Conversations in the shape of the OpenAI chat API, one per line: {"messages": [{"role": …, "content": …}]}."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import jsontext
from . import chat
from .base import Record, Session, Skipped, Usage
from .source import Source, first_objects
from .texts import count_of, when

NAME = "openai-chat"
_IDS = ("id", "session_id", "conversation_id", "custom_id")
_TOKENS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    """Such files lie wherever they were put."""
    return []


def find(root: Path) -> Iterator[Path]:
    yield from root.rglob("*.jsonl")


def detect(path: Path, head: bytes) -> bool:
    if ".jsonl" not in path.name and ".ndjson" not in path.name:
        return False
    found = first_objects(head, 1)
    if not found:
        return head.lstrip().startswith((b'{"messages":', b'{"messages" :'))
    messages = found[0].get("messages")
    return isinstance(messages, list) and all(isinstance(each, dict) and "role" in each for each in messages[:5])


def read(source: Source) -> Iterator[Record]:
    for found in source.objects():
        if isinstance(found, Skipped):
            yield found
            continue
        line, values = found
        messages = values.get("messages")
        if not isinstance(messages, list):
            yield Skipped(source.path, line, "no list of messages")
            continue
        yield from _conversation(source.path, line, values, messages)


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
