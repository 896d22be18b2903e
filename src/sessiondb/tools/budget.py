"""Answers that fit: the first level of detail that a budget of characters allows, the same every time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..jsontext import dumps
from .entries import Detail

LEVELS = (
    Detail(text=4000, window=5, bookends=3, hits=5),
    Detail(text=2000, window=5, bookends=3, hits=5),
    Detail(text=1000, window=5, bookends=3, hits=5),
    Detail(text=500, window=5, bookends=3, hits=3),
    Detail(text=300, window=3, bookends=2, hits=3),
    Detail(text=200, window=2, bookends=1, hits=2),
    Detail(text=120, window=1, bookends=1, hits=1),
    Detail(text=80, window=0, bookends=0, hits=1),
)

Draw = Callable[[Detail], dict[str, Any]]


def fitted(draw: Draw, max_chars: int, shortened: str) -> dict[str, Any]:
    """The answer that `draw` makes, in as much detail as fits; at last the list `shortened` loses its end."""
    answer: dict[str, Any] = {}
    for level, detail in enumerate(LEVELS):
        answer = draw(detail)
        if level:
            answer["shortened"] = True
        if _size(answer) <= max_chars:
            return answer
    left_out = 0
    while len(answer[shortened]) > 1 and _size(answer) > max_chars:
        answer[shortened].pop()
        left_out += 1
        answer["left_out"] = left_out
    return answer


def _size(answer: dict[str, Any]) -> int:
    return len(dumps(answer))
