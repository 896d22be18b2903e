"""Chat logs: what was said, one line each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TextIO

from sessiondb.exporters.base import Conversation

NAME = "chat-log"
SUFFIXES = (".chatlog",)
_NAMES = {"user": "user", "assistant": "bot"}


def write(conversations: Iterable[Conversation], out: TextIO) -> None:
    for conversation in conversations:
        out.write(f"# chat: {conversation.session['title'] or conversation.session['id']}\n")
        for message in conversation.messages():
            if message["role"] in _NAMES and isinstance(message["content"], str):
                name = (message["metadata"] or {}).get("name", _NAMES[message["role"]])
                moment = datetime.fromtimestamp(message["timestamp"], UTC).isoformat().replace("+00:00", "Z")
                out.write(f"{moment} <{name}> {' '.join(message['content'].split())}\n")
            else:
                conversation.note(f"chat-log leaves out what is not text, in {conversation.session['id']}")
