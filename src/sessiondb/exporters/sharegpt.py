"""ShareGPT lines: what people, agents and tools said; tool calls and reasoning are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from ..jsontext import dumps
from ..models import MessageRow
from .base import Conversation, words
from .jsonl import safe

NAME = "sharegpt"
SUFFIXES = (".sharegpt.jsonl",)
FROM = {"user": "human", "assistant": "gpt", "system": "system", "developer": "system", "tool": "tool"}

Value = Callable[[MessageRow], str]


def write(conversations: Iterable[Conversation], out: TextIO) -> None:
    write_turns(conversations, out, words)


def write_turns(conversations: Iterable[Conversation], out: TextIO, value: Value) -> None:
    for conversation in conversations:
        session = conversation.session
        facts = {"id": session["id"], "model": session["model"], "title": session["title"]}
        known = {name: fact for name, fact in facts.items() if fact}
        out.write(safe(dumps(known))[:-1] + ', "conversations": [')
        for number, turn in enumerate(_turns(conversation, value)):
            out.write((", " if number else "") + safe(dumps(turn)))
        out.write("]}\n")


def _turns(conversation: Conversation, value: Value) -> Iterator[dict[str, str]]:
    if prompt := conversation.session["system_prompt"]:
        yield {"from": "system", "value": prompt}
    for message in conversation.messages():
        if told := value(message):
            yield {"from": FROM.get(message["role"], message["role"]), "value": told}
