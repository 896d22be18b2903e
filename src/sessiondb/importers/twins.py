"""An agent may tell a session twice, first without ids for its messages, later with: both are the same messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .base import Message

Words = tuple[str, str | None, str | None]


class Twins:
    """The messages of a session that are here without ids, by their words, in order."""

    def __init__(self, stored: Iterable[Mapping[str, Any]]) -> None:
        self._keys: set[str] = set()
        self._waiting: dict[Words, list[str]] = {}
        for row in stored:
            key = row["message_key"]
            if key is not None:
                self._keys.add(key)
                if key.startswith("~"):
                    self._waiting.setdefault((row["role"], row["content"], row["tool_call_id"]), []).append(key)

    def key(self, key: str, message: Message) -> str:
        """The key under which the message is here already, or its own."""
        if key in self._keys or not self._waiting or not isinstance(message.content, str | None):
            return key
        twins = self._waiting.get((message.role, message.content, message.tool_call_id))
        return twins.pop(0) if twins else key
