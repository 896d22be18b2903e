"""How a message is known again: by its native id, else by its content, its time and how often that occurred."""

from __future__ import annotations

import hashlib
from typing import Any

from .. import jsontext
from .base import Message

_LONGEST = 200


def native_key(native_id: str) -> str:
    """The key of a message that has an id; ids are only unique within their session, as keys are."""
    return native_id if len(native_id) <= _LONGEST else hashlib.sha256(_bytes(native_id)).hexdigest()


class Keys:
    """The keys of one session's messages in the order of their source; `state` goes on after a break."""

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        known = state or {}
        self.count: int = known.get("count", 0)
        self.last: float | None = known.get("last")
        self._same: dict[str, int] = dict(known.get("same", {}))

    def key(self, message: Message) -> str:
        self.count += 1
        if message.timestamp is not None and message.timestamp != self.last:
            self.last = message.timestamp
            self._same.clear()
        if message.native_id is not None:
            return native_key(message.native_id)
        digest = content_digest(message)
        if message.timestamp is None:
            # Without a time only the place tells two equal messages apart.
            return f"~{digest}@{self.count}"
        # Equal messages have equal times, so they are neighbours: nothing else has to be remembered.
        occurrence = self._same[digest] = self._same.get(digest, 0) + 1
        return f"~{digest}" if occurrence == 1 else f"~{digest}#{occurrence}"

    def state(self) -> dict[str, Any]:
        return {"count": self.count, "last": self.last, "same": self._same}


def content_digest(message: Message) -> str:
    told = [
        message.role,
        message.content,
        message.timestamp,
        message.tool_call_id,
        message.tool_name,
        message.tool_calls,
        message.reasoning,
    ]
    return hashlib.sha256(_bytes(jsontext.canonical(told))).hexdigest()[:32]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
