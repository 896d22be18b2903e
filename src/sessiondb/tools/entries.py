"""How sessions and messages look in a tool's answer: ids to cite, text cut to a level of detail."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..models import MessageRow
from ..search.snippet import CLOSE, CUT, OPEN
from ..search.text import readable, tool_names

# Names of tools that one message called; the rest is a number.
_NAMED_TOOLS = 8


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of a conversation is shown: characters a message, neighbours, first and last messages, further hits."""

    text: int
    window: int
    bookends: int
    hits: int


def when(moment: float | None) -> str | None:
    """UTC, to the second: the same answer everywhere."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def message(row: MessageRow, length: int, *, anchor: str | None = None) -> dict[str, Any]:
    """One message; with the snippet of a hit as `anchor`, a long text is cut around what was found."""
    entry: dict[str, Any] = {
        "message_id": row["id"],
        "role": row["role"],
        "when": when(row["timestamp"]),
        "content": cut(readable(row), length, anchor),
    }
    tools = tool_names(row)
    if tools:
        entry["tools"] = tools[:_NAMED_TOOLS]
    if len(tools) > _NAMED_TOOLS:
        entry["more_tools"] = len(tools) - _NAMED_TOOLS
    if anchor is not None:
        entry["anchor"] = True
    return entry


def messages(rows: Sequence[MessageRow], length: int, anchors: Mapping[int, str] | None = None) -> list[dict[str, Any]]:
    return [message(row, length, anchor=(anchors or {}).get(row["id"])) for row in rows]


def cut(text: str, length: int, anchor: str | None = None) -> str:
    """At most `length` characters, and a mark where something is left out."""
    if len(text) <= length:
        return text
    start = max(0, min(_place(text, anchor) - length // 4, len(text) - length))
    return CUT * (start > 0) + text[start : start + length] + CUT * (start + length < len(text))


def _place(text: str, anchor: str | None) -> int:
    """Where the first thing that a snippet marks stands in the text."""
    marked = re.search(f"{OPEN}(.+?){CLOSE}", anchor or "", re.DOTALL)
    if marked is None or anchor is None:
        return 0
    lead = anchor[: marked.start()].removeprefix(CUT)
    found = text.find(lead + marked[1])
    return found + len(lead) if found >= 0 else max(0, text.find(marked[1]))
