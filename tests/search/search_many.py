"""Enough messages that a common word is looked for among the newest, and a rare one in the index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COUNT = 3000
ROLES = ("user", "assistant", "assistant", "assistant")
Holds = Callable[[int], Any]
CASES: list[tuple[str, Holds]] = [
    ("common", lambda number: number % 2 == 0),
    ("rare", lambda number: number % 500 == 0),
    ("common rare", lambda number: number % 500 == 0),
    ("common -third", lambda number: number % 2 == 0 and number % 3),
    ("long common", lambda number: number % 1000 == 0),
    ('"common third"', lambda number: number % 6 == 0),
    ('"third common"', lambda number: False),
    ("comm* OR rare", lambda number: number % 2 == 0),
]


def text(number: int) -> str:
    marks = [(2, "common"), (3, "third"), (500, "rare")]
    said = " ".join([f"m{number}", *(word for step, word in marks if number % step == 0)])
    # Some are too long for one vector: their words must be put together.
    return said if number % 1000 else said + " filler" * 600 + " long"


def messages() -> list[dict[str, Any]]:
    return [{"role": ROLES[number % len(ROLES)], "content": text(number)} for number in range(COUNT)]


def expected(holds: Holds, role: str | None, order: str) -> list[int]:
    """The positions of all messages that match, in order."""
    found = [number + 1 for number in range(COUNT) if holds(number) and role in (None, ROLES[number % len(ROLES)])]
    return found if order == "oldest" else found[::-1]
