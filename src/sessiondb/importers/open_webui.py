"""Open WebUI: exported chats, a single chat, and `webui.db`.

A chat is a tree of messages; what is shown is the way from `currentId` up to the root. Several answers to one prompt
are siblings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import databases, exports
from .base import Message, Record, Session
from .branches import in_order, shown
from .open_webui_details import Answer
from .parts import Totals, list_of, object_of, tool_call
from .source import Source, head_of
from .texts import count_of, when, words_of

NAME = "open-webui"
roots = exports.roots
_TABLES = {"chat": ("id", "title", "chat")}


def find(root: Path) -> Iterator[Path]:
    yield from exports.files(root, lambda path: detect(path, head_of(path)))
    yield from sorted(root.rglob("webui.db"))


def detect(path: Path, head: bytes) -> bool:
    if databases.is_database(head):
        return databases.has(path, _TABLES)
    return exports.holds(path, head, "history", "messages", "childrenIds")


def read(source: Source) -> Iterator[Record]:
    if databases.is_file(source.file):
        with source.tables() as tables:
            for row in tables.rows("chat", order=("created_at", "id")):
                yield from _conversation({**row, "chat": databases.decoded(row.get("chat"))})
        return
    for values in source.elements():
        yield from _conversation(values) if isinstance(values, dict) else (values,)


def _conversation(values: Mapping[str, Any]) -> Iterator[Record]:
    chat = object_of(values.get("chat")) or values
    history = object_of(chat.get("history"))
    messages = {name: each for name, each in object_of(history.get("messages")).items() if isinstance(each, dict)}
    if not messages:
        messages = {str(each.get("id")): each for each in list_of(chat.get("messages")) if isinstance(each, dict)}
    parents = {name: words_of(each.get("parentId")) for name, each in messages.items()}
    ordered = in_order(parents)
    if not ordered:
        return
    # A chat that was exported on its own has no id; its first message has.
    native_id = words_of(values.get("id")) or words_of(chat.get("id")) or ordered[0]
    yield _session(native_id, values, chat)
    active = shown(parents, words_of(history.get("currentId")) or ordered[-1])
    totals: dict[str, Any] = {}
    for name in ordered:
        yield from _messages(name, messages[name], active=name in active or not active)
        if used := _used(messages[name].get("usage")):
            Totals.add(totals, used)
    if totals:
        yield Totals.usage(totals, native_id, NAME)


def _session(native_id: str, values: Mapping[str, Any], chat: Mapping[str, Any]) -> Session:
    title = words_of(values.get("title")) or words_of(chat.get("title"))
    last = when(values.get("updated_at")) or when(chat.get("timestamp"))
    models = [model for model in list_of(chat.get("models")) if words_of(model)]
    tags = [str(tag) for tag in list_of(object_of(values.get("meta")).get("tags")) if words_of(tag)]
    return Session(
        native_id,
        title=title,
        title_source="agent" if title else None,
        started_at=when(values.get("created_at")) or when(chat.get("timestamp")),
        model=models[0] if models else None,
        system_prompt=words_of(object_of(chat.get("params")).get("system")),
        user_id=words_of(values.get("user_id")),
        archived_at=last if values.get("archived") in (True, 1) else None,
        pinned_at=last if values.get("pinned") in (True, 1) else None,
        tags=tags,
    )


def _messages(name: str, message: Mapping[str, Any], *, active: bool) -> Iterator[Message]:
    role, content = words_of(message.get("role")), message.get("content")
    files = list_of(message.get("files"))
    fields: dict[str, Any] = {
        "timestamp": when(message.get("timestamp")),
        "native_id": name,
        "active": active,
        "metadata": {"files": files} if files else None,
    }
    if role == "assistant":
        yield from _answer(name, Answer(content if isinstance(content, str) else ""), message, fields)
    elif role in ("user", "system"):
        yield Message(role, content if isinstance(content, str | list) else "", injected=role == "system", **fields)
    else:
        yield Message("meta", dict(message), injected=True, **fields)


def _answer(name: str, answer: Answer, message: Mapping[str, Any], fields: dict[str, Any]) -> Iterator[Message]:
    used = _used(message.get("usage"))
    calls = [tool_call(call.id or f"{name}:{number}", call.name, call.arguments) for number, call in answer.numbered()]
    yield Message(
        "assistant",
        answer.text or None,
        reasoning=answer.reasoning or None,
        tool_calls=calls or None,
        model=words_of(message.get("model")),
        input_tokens=used.get("input_tokens"),
        output_tokens=used.get("output_tokens"),
        **fields,
    )
    for number, call in answer.numbered():
        if call.result is not None:
            result = {**fields, "native_id": f"{name}#{number}", "metadata": None}
            yield Message("tool", call.result, tool_call_id=calls[number]["id"], tool_name=call.name, **result)


def _used(usage: Any) -> dict[str, Any]:
    """Tokens as OpenAI counts them, or Ollama."""
    values = object_of(usage)
    if not values:
        return {}
    cached = count_of(object_of(values.get("prompt_tokens_details")).get("cached_tokens"))
    reasoning = count_of(object_of(values.get("completion_tokens_details")).get("reasoning_tokens"))
    sent = count_of(values.get("prompt_tokens")) or count_of(values.get("prompt_eval_count"))
    return {
        "input_tokens": max(sent - cached, 0),
        "output_tokens": count_of(values.get("completion_tokens")) or count_of(values.get("eval_count")),
        "cache_read_tokens": cached,
        "reasoning_tokens": reasoning,
    }
