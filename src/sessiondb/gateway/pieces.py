"""A long text in messages that a platform takes; pure."""

from __future__ import annotations

from collections.abc import Callable


def pieces(text: str, longest: int, measure: Callable[[str], int] = len) -> list[str]:
    """Cut at line ends, else at blanks, else anywhere. Of a text that grows, all pieces but the last stay."""
    found = []
    while measure(text) > longest:
        end = _end(text, longest, measure)
        found.append(text[:end])
        text = text[end:]
    return [*found, text] if text.strip() or not found else found


def _end(text: str, longest: int, measure: Callable[[str], int]) -> int:
    room = _fitting(text, longest, measure)
    for mark in ("\n", " "):
        # A cut in the first half would leave messages of a few words.
        found = text.rfind(mark, room // 2, room)
        if found >= 0:
            return found + 1
    return room


def _fitting(text: str, longest: int, measure: Callable[[str], int]) -> int:
    """How many characters fit: at least one."""
    low, high = 1, min(len(text), longest)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(text[:middle]) <= longest else (low, middle - 1)
    return low
