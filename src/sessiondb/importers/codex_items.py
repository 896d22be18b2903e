"""Items of the model's API in a rollout of Codex: words, calls, outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .parts import blocks_of, body, text_of, tool_call
from .texts import words_of

_NO_ARGUMENTS = frozenset({"type", "id", "call_id", "status", "metadata", "internal_chat_message_metadata_passthrough"})


def words_in(item: Mapping[str, Any]) -> str:
    return "\n\n".join(filter(None, map(text_of, blocks_of(item.get("content")))))


def is_call(item: Mapping[str, Any]) -> bool:
    return str(item.get("type")).endswith("_call")


def call_of(item: dict[str, Any]) -> dict[str, Any]:
    kind = str(item.get("type"))
    call_id = words_of(item.get("call_id")) or words_of(item.get("id"))
    if kind in ("function_call", "custom_tool_call"):
        name = ".".join(filter(None, (words_of(item.get("namespace")), words_of(item.get("name")))))
        return tool_call(call_id, name or kind, item.get("arguments", item.get("input")))
    if kind == "local_shell_call":
        return tool_call(call_id, "local_shell", item.get("action"))
    arguments = {name: value for name, value in item.items() if name not in _NO_ARGUMENTS and name != "result"}
    return tool_call(call_id, kind.removesuffix("_call"), arguments)


def output_of(item: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What a tool answered, and what else is known of it."""
    output = item.get("output", item.get("tools"))
    if isinstance(output, str):
        return _unwrapped(output)
    if isinstance(output, dict) and "content" in output:
        facts = {"is_error": True} if output.get("success") is False else {}
        return body(blocks_of(output["content"])), facts
    return body(blocks_of(output)), {}


def _unwrapped(output: str) -> tuple[str, dict[str, Any]]:
    """Older versions put text and exit code into a JSON text."""
    if not output.startswith('{"output":'):
        return output, {}
    try:
        wrapped = json.loads(output)
    except ValueError:
        return output, {}
    if not isinstance(wrapped.get("output"), str):
        return output, {}
    about = wrapped.get("metadata")
    code = about.get("exit_code") if isinstance(about, dict) else None
    facts = {} if code is None else {"exit_code": code, **({"is_error": True} if code else {})}
    return wrapped["output"], facts
