"""Lines for training and replay: {"messages": [...]}, in the shape of the OpenAI chat API and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from ..jsontext import dumps
from ..models import MessageRow
from .base import Conversation
from .jsonl import safe

NAME = "openai"
SUFFIXES = (".openai.jsonl",)


def write(conversations: Iterable[Conversation], out: TextIO) -> None:
    for conversation in conversations:
        out.write('{"messages": [')
        for number, turn in enumerate(turns(conversation)):
            out.write((", " if number else "") + safe(dumps(turn)))
        out.write("]}\n")


def turns(conversation: Conversation) -> Iterator[dict[str, Any]]:
    prompt = conversation.session["system_prompt"]
    begun = False
    for message in conversation.messages():
        if not begun and prompt and message["role"] != "system":
            yield {"role": "system", "content": prompt}
        begun = True
        yield turn(message)


def turn(message: MessageRow) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message["role"], "content": message["content"]}
    if message["tool_calls"]:
        made["tool_calls"] = message["tool_calls"]
    if message["tool_call_id"]:
        made["tool_call_id"] = message["tool_call_id"]
    if message["role"] in ("tool", "function") and message["tool_name"]:
        made["name"] = message["tool_name"]
    return made
