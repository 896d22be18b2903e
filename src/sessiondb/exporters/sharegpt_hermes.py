"""ShareGPT as Hermes models are trained: <think>, <tool_call> and <tool_response> in the text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from ..jsontext import dumps
from ..models import MessageRow
from .base import Conversation, calls, words
from .sharegpt import write_turns

NAME = "sharegpt-hermes"
SUFFIXES = (".hermes.jsonl",)


def write(conversations: Iterable[Conversation], out: TextIO) -> None:
    write_turns(conversations, out, marked_up)


def marked_up(message: MessageRow) -> str:
    if message["role"] == "tool":
        return f"<tool_response>\n{dumps(_answer(message))}\n</tool_response>"
    parts = [f"<think>\n{message['reasoning']}\n</think>"] if message["reasoning"] else []
    if text := words(message):
        parts.append(text)
    parts += [f"<tool_call>\n{dumps(_call(call))}\n</tool_call>" for call in calls(message)]
    return "\n".join(parts)


def _answer(message: MessageRow) -> dict[str, Any]:
    named = {"tool_call_id": message["tool_call_id"], "name": message["tool_name"]}
    return {name: value for name, value in named.items() if value} | {"content": words(message)}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    named = {"id": call["call_id"]} if call["call_id"] else {}
    return {"name": call["tool_name"], "arguments": _value(call["arguments"]), **named}


def _value(arguments: str | None) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments
