"""The chats of Cursor's editor: `cursorDiskKV` of `state.vscdb`, a composer and its bubbles as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .base import Message, Record, Session, Skipped, Usage
from .databases import decoded
from .parts import list_of, object_of, tool_call
from .source import ForeignTables
from .texts import count_of, is_injected, when, words_of

TABLES = {"cursorDiskKV": ("key", "value")}
_COMPOSER = "composerData:"


def composers(path: Path, tables: ForeignTables) -> Iterator[Record]:
    # Such a file has gigabytes: only what begins so is read.
    for row in tables.rows("cursorDiskKV", starting={"key": _COMPOSER}, order=("key",)):
        composer = decoded(row.get("value"))
        if isinstance(composer, dict):
            native_id = words_of(composer.get("composerId")) or str(row["key"]).removeprefix(_COMPOSER)
            yield from _conversation(native_id, composer, tables)
        elif row.get("value"):
            yield Skipped(path, None, f"{row['key']} holds no JSON object")


def _conversation(native_id: str, composer: Mapping[str, Any], tables: ForeignTables) -> Iterator[Record]:
    messages: list[Message] = []
    sent = received = 0
    for bubble in _bubbles(native_id, composer, tables):
        messages += _messages(bubble)
        tokens = object_of(bubble.get("tokenCount"))
        sent += count_of(tokens.get("inputTokens"))
        received += count_of(tokens.get("outputTokens"))
    if not messages:
        return
    title = words_of(composer.get("name"))
    yield Session(
        native_id,
        source="editor",
        title=title,
        title_source="agent" if title else None,
        started_at=when(composer.get("createdAt")),
        model=words_of(object_of(composer.get("modelConfig")).get("modelName")),
    )
    yield from messages
    yield Usage(sent, received)


def _bubbles(native_id: str, composer: Mapping[str, Any], tables: ForeignTables) -> Iterator[dict[str, Any]]:
    """In the order of the composer, which in older versions holds them itself."""
    for header in map(object_of, list_of(composer.get("fullConversationHeadersOnly"))):
        name = words_of(header.get("bubbleId"))
        for row in tables.rows("cursorDiskKV", equal={"key": f"bubbleId:{native_id}:{name}"}):
            yield {**header, **object_of(decoded(row.get("value")))}
    yield from (each for each in list_of(composer.get("conversation")) if isinstance(each, dict))


def _messages(bubble: Mapping[str, Any]) -> Iterator[Message]:
    name, text = words_of(bubble.get("bubbleId")), words_of(bubble.get("text"))
    fields: dict[str, Any] = {"timestamp": when(bubble.get("createdAt")), "native_id": name}
    if bubble.get("type") == 1:
        if text:
            yield Message("user", text, injected=is_injected(text), **fields)
        return
    tool = object_of(bubble.get("toolFormerData"))
    call = tool_call(words_of(tool.get("toolCallId")) or name, tool.get("name"), _arguments(tool)) if tool else None
    thinking = bubble.get("thinking")
    thoughts = words_of(object_of(thinking).get("text")) or words_of(thinking)
    if text or thoughts or call:
        yield Message("assistant", text, reasoning=thoughts, tool_calls=[call] if call else None, **fields)
    result = tool.get("result")
    if call and result is not None:
        told = result if isinstance(result, str) else [result] if isinstance(result, dict) else str(result)
        fields["native_id"] = None if name is None else f"{name}#result"
        failed = {"is_error": True} if tool.get("status") in ("error", "cancelled") else None
        yield Message(
            "tool", told, tool_call_id=call["id"], tool_name=words_of(tool.get("name")), metadata=failed, **fields
        )


def _arguments(tool: Mapping[str, Any]) -> Any:
    return next((tool[name] for name in ("params", "rawArgs") if tool.get(name)), None)
