"""ChatGPT's export: `conversations.json`, its parts `conversations-000.json`, or the ZIP file they come in.

A conversation is a tree of nodes; what is shown is the way from `current_node` up to the root. Whatever hangs beside
it was written anew or regenerated: kept, hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import exports
from .base import Message, Record, Session
from .branches import in_order, shown
from .chatgpt_content import Content, content_of
from .parts import object_of, tool_call
from .source import Source, head_of
from .texts import when, words_of

NAME = "chatgpt"
roots = exports.roots


def find(root: Path) -> Iterator[Path]:
    return exports.files(root, lambda path: detect(path, head_of(path)))


def detect(path: Path, head: bytes) -> bool:
    return exports.holds(path, head, "mapping", "message", "parent")


def read(source: Source) -> Iterator[Record]:
    return exports.conversations(source, "mapping", _conversation)


def _conversation(values: Mapping[str, Any]) -> Iterator[Record]:
    nodes = {name: node for name, node in object_of(values.get("mapping")).items() if isinstance(node, dict)}
    native_id = words_of(values.get("conversation_id")) or words_of(values.get("id")) or next(iter(nodes), None)
    if native_id is None:
        return
    yield _session(native_id, values)
    parents = {name: words_of(node.get("parent")) for name, node in nodes.items()}
    active = shown(parents, _leaf(values, nodes))
    for name in in_order(parents):
        message = nodes[name].get("message")
        if isinstance(message, dict):
            yield from _messages(name, message, nodes, active=name in active or not active)


def _leaf(values: Mapping[str, Any], nodes: Mapping[str, Any]) -> str | None:
    current = words_of(values.get("current_node"))
    if current in nodes:
        return current
    leaves = [name for name, node in nodes.items() if not node.get("children")]
    return max(leaves, key=lambda name: _time(nodes[name]) or 0.0, default=None)


def _time(node: Mapping[str, Any]) -> float | None:
    return when(object_of(node.get("message")).get("create_time"))


def _session(native_id: str, values: Mapping[str, Any]) -> Session:
    title = words_of(values.get("title"))
    last = when(values.get("update_time")) or when(values.get("create_time"))
    kept = {name: values[name] for name in ("gizmo_id", "conversation_origin", "voice") if values.get(name)}
    return Session(
        native_id,
        title=title,
        title_source="agent" if title else None,
        started_at=when(values.get("create_time")),
        model=words_of(values.get("default_model_slug")),
        archived_at=last if values.get("is_archived") is True else None,
        pinned_at=last if values.get("is_starred") is True else None,
        metadata=kept or None,
    )


def _messages(name: str, message: Mapping[str, Any], nodes: Mapping[str, Any], *, active: bool) -> Iterator[Message]:
    role = words_of(object_of(message.get("author")).get("role"))
    facts = object_of(message.get("metadata"))
    content = content_of(message.get("content"))
    fields: dict[str, Any] = {
        "timestamp": when(message.get("create_time")),
        "native_id": words_of(message.get("id")) or name,
        "active": active,
        "metadata": {"attachments": facts["attachments"]} if facts.get("attachments") else None,
    }
    hidden = bool(facts.get("is_visually_hidden_from_conversation")) or message.get("weight") == 0
    if role == "assistant":
        yield from _answer(name, message, content, facts, fields)
    elif role == "tool":
        yield _result(message, content, nodes[name], nodes, fields)
    elif role in ("user", "system") and content.body:
        injected = role == "system" or hidden or content.is_context
        yield Message(role, content.body, injected=injected, **fields)
    elif content.body or content.thoughts:
        yield Message("meta", dict(message), injected=True, **fields)


def _answer(
    name: str, message: Mapping[str, Any], content: Content, facts: Mapping[str, Any], fields: dict[str, Any]
) -> Iterator[Message]:
    recipient = words_of(message.get("recipient")) or "all"
    if content.is_note:
        yield Message("meta", content.body, injected=True, **fields)
        return
    calls = [] if recipient == "all" else [tool_call(name, recipient, content.text)]
    body = content.body if recipient == "all" else None
    if body or calls or content.thoughts:
        yield Message(
            "assistant",
            body or None,
            tool_calls=calls or None,
            reasoning=content.thoughts or None,
            model=words_of(facts.get("model_slug")),
            provider="openai",
            finish_reason=words_of(object_of(facts.get("finish_details")).get("type")),
            **fields,
        )


def _result(
    message: Mapping[str, Any],
    content: Content,
    node: Mapping[str, Any],
    nodes: Mapping[str, Any],
    fields: dict[str, Any],
) -> Message:
    return Message(
        "tool",
        content.body,
        tool_call_id=_call_above(node, nodes),
        tool_name=words_of(object_of(message.get("author")).get("name")),
        **fields,
    )


def _call_above(node: Mapping[str, Any], nodes: Mapping[str, Any]) -> str | None:
    """The call that a result belongs to: the nearest above it, past other results of it."""
    seen: set[str] = set()
    name = words_of(node.get("parent"))
    while name is not None and name in nodes and name not in seen:
        seen.add(name)
        message = object_of(nodes[name].get("message"))
        role = words_of(object_of(message.get("author")).get("role"))
        if role == "assistant":
            return name if (words_of(message.get("recipient")) or "all") != "all" else None
        if role != "tool":
            return None
        name = words_of(nodes[name].get("parent"))
    return None
