"""What is timed: the messages and documents of each kind of work, made beforehand; standard library only."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from . import corpus

FILLED = "filled-"
# Of this process: two agents do not continue each other's conversations.
LIVE_SESSIONS = tuple(f"live-{os.getpid()}-{number}" for number in range(8))
LISTED = 20
IMPORTED_MESSAGES = 50


@dataclass(frozen=True, slots=True)
class Work:
    """`count` operations in each round; `size` is what one operation takes: messages, or sessions to choose from.

    A round goes `passes` times through its operations, and the median of each is its time: what is warm.
    """

    kind: str
    count: int
    rounds: int
    size: int = 1
    passes: int = 1

    @property
    def messages_per_operation(self) -> int:
        return self.size * IMPORTED_MESSAGES if self.kind in ("import", "store") else self.size


def live_session(number: int) -> str:
    return LIVE_SESSIONS[number % len(LIVE_SESSIONS)]


def filled_session(number: int, sessions: int) -> str:
    return f"{FILLED}{number % sessions:07d}"


def appended(work: Work, number: int) -> list[tuple[str, dict[str, Any]]]:
    """Single messages, spread over conversations that go on at the same time; "append" is text only."""
    made: list[tuple[str, dict[str, Any]]] = []
    # A result follows its call in the same conversation.
    conversations = [iter(corpus.messages(f"append-{number}-{name}", work.count)) for name in range(len(LIVE_SESSIONS))]
    for place in range(work.count):
        row = next(conversations[place % len(LIVE_SESSIONS)])
        is_text = work.kind == "append"
        made.append((live_session(place), {"role": "user", "content": row["content"]} if is_text else row))
    return made


def batches(work: Work, number: int) -> list[tuple[str, list[dict[str, Any]]]]:
    made = (corpus.messages(f"batch-{number}-{place}", work.size) for place in range(work.count))
    return [(live_session(place), rows) for place, rows in enumerate(made)]


def imports(work: Work, number: int) -> list[list[dict[str, Any]]]:
    prefixes = (f"import-{number}-{place}-" for place in range(work.count))
    return [list(corpus.documents(prefix, work.size, IMPORTED_MESSAGES)) for prefix in prefixes]


def loaded(work: Work, number: int) -> list[str]:
    return [filled_session(number + place, work.size) for place in range(work.count)]
