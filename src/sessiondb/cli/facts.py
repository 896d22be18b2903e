"""A name and what is known about it, on one line; a narrow terminal gets fewer facts, then less of the name."""

from __future__ import annotations

from collections.abc import Sequence

from . import terminal
from .text import cut, line, width

BETWEEN = " · "
_LEAST_NAME = 12


def fitted(name: str, facts: Sequence[str | None], taken: int = 0) -> tuple[str, str]:
    """The name, and the facts to be said after it, the most important first."""
    shown, known = line(name), [line(fact) for fact in facts if fact]
    room = terminal.columns()
    if room is not None:
        room -= taken
        while len(known) > 1 and width(shown) + _width(known) > room:
            known.pop()
        shown = cut(shown, max(_LEAST_NAME, room - _width(known)))
    return shown, "".join(BETWEEN + fact for fact in known)


def _width(facts: Sequence[str]) -> int:
    return sum(len(BETWEEN) + width(fact) for fact in facts)
