"""Made-up conversations, the same in every process: Zipf words, CJK, paths, tool calls; standard library only."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

EPOCH = 1_700_000_000.0
SECONDS_BETWEEN_SESSIONS = 600.0
CJK_SHARE = 0.05

_SYLLABLES = ("ka", "to", "ri", "ne", "mo", "sel", "dra", "pin", "vu", "lor", "ash", "em", "qui", "bo", "tan", "gre")
_VOCABULARY = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in _SYLLABLES]
_WEIGHTS = list(accumulate(1.0 / rank for rank in range(1, len(_VOCABULARY) + 1)))
_IDEOGRAPHS = [chr(code) for code in range(0x4E00, 0x4E00 + 800)]
_ROLES = ("user", "assistant", "tool", "assistant")


def word(rank: int) -> str:
    """A word of the history by its frequency; 1 is the most frequent."""
    return _VOCABULARY[rank - 1]


def _text(source: random.Random) -> str:
    if source.random() < CJK_SHARE:
        return "".join(source.choices(_IDEOGRAPHS, k=source.randint(20, 160)))
    words = source.choices(_VOCABULARY, cum_weights=_WEIGHTS, k=source.randint(8, 92))
    words[len(words) // 2] = f"/etc/{words[0]}/{words[-1]}.conf"
    return " ".join(words)


def _call(number: int, source: random.Random) -> dict[str, Any]:
    arguments = f'{{"path": "/srv/{source.choice(_VOCABULARY)}", "line": {number}}}'
    return {"id": f"call_{number}", "type": "function", "function": {"name": "read_file", "arguments": arguments}}


def message(number: int, source: random.Random) -> dict[str, Any]:
    """The message at this place of a conversation, with the parameter names that all contenders know."""
    role = _ROLES[number % len(_ROLES)]
    made: dict[str, Any] = {"role": role, "content": _text(source)}
    if number % len(_ROLES) == 1:
        made["tool_calls"] = [_call(number, source)]
    elif role == "tool":
        made |= {"tool_call_id": f"call_{number - 1}", "tool_name": "read_file"}
    elif role == "assistant":
        made |= {"finish_reason": "stop", "token_count": source.randint(10, 900)}
    return made


def messages(seed: str, count: int) -> list[dict[str, Any]]:
    source = random.Random(seed)
    return [message(number, source) for number in range(count)]


def document(name: str, place: int, count: int) -> dict[str, Any]:
    """A session with its messages in the form of an export."""
    begun = EPOCH + place * SECONDS_BETWEEN_SESSIONS
    rows = messages(name, count)
    for number, row in enumerate(rows):
        row["timestamp"] = begun + number
    return {"id": name, "source": "cli", "model": "model-1", "started_at": begun, "messages": rows}


def documents(prefix: str, sessions: int, messages_each: int) -> Iterator[dict[str, Any]]:
    for place in range(sessions):
        yield document(f"{prefix}{place:07d}", place, messages_each)
