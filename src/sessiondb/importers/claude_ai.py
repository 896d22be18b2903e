"""The export of Claude.ai: `conversations.json`, or the ZIP file it comes in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import exports
from .base import Message, Record, Session
from .block_turns import Turn
from .branches import shown
from .parts import list_of, object_of, said
from .source import Source, head_of
from .texts import when, words_of

NAME = "claude-ai"
roots = exports.roots
_ROLES = {"human": "user", "assistant": "assistant"}


def find(root: Path) -> Iterator[Path]:
    return exports.files(root, lambda path: detect(path, head_of(path)))


def detect(path: Path, head: bytes) -> bool:
    return exports.holds(path, head, "chat_messages", "uuid")


def read(source: Source) -> Iterator[Record]:
    return exports.conversations(source, "chat_messages", _conversation)


def _conversation(values: Mapping[str, Any]) -> Iterator[Record]:
    native_id = words_of(values.get("uuid"))
    messages = [each for each in list_of(values.get("chat_messages")) if isinstance(each, dict)]
    if native_id is None or not messages:
        return
    title = words_of(values.get("name"))
    kept = {"summary": words_of(values.get("summary")), "project": object_of(values.get("project")).get("uuid")}
    yield Session(
        native_id,
        title=title,
        title_source="agent" if title else None,
        started_at=when(values.get("created_at")),
        model=words_of(values.get("model")),
        metadata={name: value for name, value in kept.items() if value} or None,
    )
    active = _shown(messages)
    for number, message in enumerate(messages):
        yield from _messages(message, number, active)


def _shown(messages: list[dict[str, Any]]) -> set[str]:
    """The branch of the last message; none where the export does not tell parents."""
    names = {words_of(message.get("uuid")) or "": words_of(message.get("parent_message_uuid")) for message in messages}
    return shown(names, next(reversed(names), None)) if any(names.values()) else set()


def _messages(message: Mapping[str, Any], number: int, active: set[str]) -> Iterator[Message]:
    name = words_of(message.get("uuid")) or f"message {number}"
    role = _ROLES.get(str(message.get("sender")), "meta")
    fields: dict[str, Any] = {
        "timestamp": when(message.get("created_at")),
        "active": not active or name in active,
    }
    if role == "meta":
        yield Message("meta", dict(message), native_id=name, injected=True, **fields)
        return
    yield from _attached(message, name, fields)
    if role == "assistant":
        fields["provider"] = "anthropic"
    elif files := _names(message):
        fields["metadata"] = {"files": files}
    blocks = list_of(message.get("content")) or [message.get("text") or ""]
    yield from Turn(role, name, is_note=lambda text: False, **fields).messages(blocks)


def _attached(message: Mapping[str, Any], name: str, fields: Mapping[str, Any]) -> Iterator[Message]:
    """The text of attached files; the person did not type it."""
    for number, each in enumerate(map(object_of, list_of(message.get("attachments"))), start=1):
        if text := words_of(each.get("extracted_content")):
            titled = said([words_of(each.get("file_name")) or "", text])
            yield Message("user", titled, native_id=f"{name}#file{number}", injected=True, **fields)


def _names(message: Mapping[str, Any]) -> list[str]:
    found = [*list_of(message.get("attachments")), *list_of(message.get("files"))]
    return [name for each in found if (name := words_of(object_of(each).get("file_name")))]
