"""The export of Grok: one object with `conversations`, each with its `responses`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import exports
from .base import Message, Record, Session
from .branches import in_order, shown
from .parts import list_of, object_of
from .source import Source, head_of
from .texts import when, words_of

NAME = "grok"
roots = exports.roots


def find(root: Path) -> Iterator[Path]:
    return exports.files(root, lambda path: detect(path, head_of(path)))


def detect(path: Path, head: bytes) -> bool:
    return exports.holds(path, head, "conversations", "conversation", "responses", "response")


def read(source: Source) -> Iterator[Record]:
    return exports.conversations(source, "conversations", _conversations)


def _conversations(values: Mapping[str, Any]) -> Iterator[Record]:
    for each in map(object_of, list_of(values.get("conversations"))):
        about = object_of(each.get("conversation"))
        native_id = words_of(about.get("conversation_id")) or words_of(about.get("id"))
        responses = [object_of(one.get("response")) for one in map(object_of, list_of(each.get("responses")))]
        if native_id is not None and responses:
            yield _session(native_id, about, responses)
            yield from _messages(about, responses)


def _session(native_id: str, about: Mapping[str, Any], responses: list[dict[str, Any]]) -> Session:
    title = words_of(about.get("title"))
    models = [model for response in responses if (model := _model(response))]
    return Session(
        native_id,
        title=title,
        title_source="agent" if title else None,
        started_at=when(about.get("create_time")),
        model=models[-1] if models else None,
        pinned_at=when(about.get("modify_time")) if about.get("starred") is True else None,
    )


def _model(response: Mapping[str, Any]) -> str | None:
    details = object_of(object_of(response.get("metadata")).get("requestModelDetails"))
    return words_of(response.get("model")) or words_of(details.get("modelId"))


def _messages(about: Mapping[str, Any], responses: list[dict[str, Any]]) -> Iterator[Message]:
    named = {words_of(each.get("response_id")) or f"response {number}": each for number, each in enumerate(responses)}
    parents = {name: words_of(each.get("parent_response_id")) for name, each in named.items()}
    leaf = words_of(about.get("leaf_response_id")) or next(reversed(named), None)
    active = shown(parents, leaf)
    if not any(parents.values()):
        active = set(named)
    model = None
    for name in in_order(parents):
        response = named[name]
        model = _model(response) or model
        yield _message(name, response, model, active=name in active)


def _message(name: str, response: Mapping[str, Any], model: str | None, *, active: bool) -> Message:
    files = [*list_of(response.get("file_attachments")), *list_of(response.get("image_attachments"))]
    fields: dict[str, Any] = {
        "timestamp": when(response.get("create_time")),
        "native_id": name,
        "active": active,
        "metadata": {"attachments": files} if files else None,
    }
    text = words_of(response.get("message")) or ""
    sender = str(response.get("sender")).lower()
    if sender == "human":
        return Message("user", text, injected=bool(response.get("is_control")), **fields)
    if sender == "assistant":
        thoughts = words_of(response.get("thinking_trace"))
        return Message("assistant", text or None, reasoning=thoughts, model=model, provider="xai", **fields)
    return Message("meta", dict(response), injected=True, **fields)
