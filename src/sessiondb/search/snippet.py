"""The lines of a message that show why it was found, made from the stored text: the same on every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..models import MessageRow
from .analyze import Span, extra, spans
from .match import length, positions
from .nodes import Leaf, Node, Phrase, Term, leaves
from .text import readable, tool_text

OPEN, CLOSE, CUT = ">>>", "<<<", "..."
# A word may be a megabyte of noise; this many characters a token are shown at most.
_CHARACTERS = 16


class _Mark(NamedTuple):
    """A found leaf: its number, its first and last token, its place in the text."""

    leaf: int
    first: int
    last: int
    start: int
    end: int


def snippet(text: str, node: Node | None, *, width: int = 40) -> str:
    """About `width` words around the best matches, each as >>>match<<<; the head of the text when there is none."""
    located = spans(text)
    marks = _marks(text, node, located)
    first = _best_window(marks, len(located), width)
    last = min(first + width, len(located)) - 1
    shown = [mark for mark in marks if first <= mark.first and mark.last <= last]
    start = located[first][1] if first else 0
    end = located[last][2] if 0 <= last < len(located) - 1 else len(text)
    start, end = _clipped(start, end, shown, width)
    cut_before, cut_after = CUT * (start > 0), CUT * (end < len(text))
    return cut_before + _marked(text, start, end, shown) + cut_after


def row_snippet(row: MessageRow, node: Node | None, *, width: int = 40) -> str:
    """The snippet of the message's text, or of its tool calls when only they match."""
    body, tools = readable(row), tool_text(row)
    if not tools or (body and not _shows(tools, node)) or _shows(body, node):
        return snippet(body, node, width=width)
    return snippet(tools, node, width=width)


def _shows(text: str, node: Node | None) -> bool:
    return bool(_marks(text, node, spans(text)))


def _marks(text: str, node: Node | None, located: Sequence[Span]) -> list[_Mark]:
    if node is None:
        return []
    words = [token for token, _, _ in located]
    found = [
        mark
        for number, leaf in enumerate(leaves(node))
        for mark in _leaf_marks(number, leaf, words, located) or _part_marks(number, leaf, text, located)
    ]
    return sorted(found, key=lambda mark: (mark.start, -mark.end))


def _leaf_marks(number: int, leaf: Leaf, words: Sequence[str], located: Sequence[Span]) -> list[_Mark]:
    size = length(leaf)
    return [
        _Mark(number, at, at + size - 1, located[at][1], _end(leaf, at + size - 1, located))
        for at in positions(leaf, words)
    ]


def _end(leaf: Leaf, at: int, located: Sequence[Span]) -> int:
    """The end of a found word; of a pair found by its first character, the end of that."""
    end = located[at][2]
    typed = leaf.tokens[-1] if isinstance(leaf, Phrase) else leaf.token
    if leaf.prefix and len(typed) == 1 and at + 1 < len(located):
        return min(end, located[at + 1][1]) if located[at + 1][1] > located[at][1] else end
    return end


def _part_marks(number: int, leaf: Leaf, text: str, located: Sequence[Span]) -> Iterator[_Mark]:
    """Identifiers of which the word is a part."""
    if isinstance(leaf, Term):
        for at, (_, start, end) in enumerate(located):
            if any(_fits(leaf, part) for part in extra(text[start:end])):
                yield _Mark(number, at, at, start, end)


def _fits(term: Term, word: str) -> bool:
    return word.startswith(term.token) if term.prefix else word == term.token


def _best_window(marks: Sequence[_Mark], total: int, width: int) -> int:
    """The first token to show: the window with the most different leaves, then the most marks, then the earliest."""
    if not marks:
        return 0
    best = max(range(len(marks)), key=lambda at: (*_richness(marks, at, width), -at))
    last = max((mark.last for mark in _window_marks(marks, best, width)), default=marks[best].first)
    covered = last - marks[best].first + 1
    lead = max(0, (width - covered) // 2)
    return max(0, min(marks[best].first - lead, total - width))


def _richness(marks: Sequence[_Mark], at: int, width: int) -> tuple[int, int]:
    inside = [mark.leaf for mark in _window_marks(marks, at, width)]
    return len(set(inside)), len(inside)


def _window_marks(marks: Sequence[_Mark], at: int, width: int) -> Iterator[_Mark]:
    limit = marks[at].first + width
    while at < len(marks) and marks[at].first < limit:
        if marks[at].last < limit:
            yield marks[at]
        at += 1


def _clipped(start: int, end: int, marks: Sequence[_Mark], width: int) -> tuple[int, int]:
    """The stretch, at most `_CHARACTERS` a word long, with its first mark in sight."""
    longest = width * _CHARACTERS
    if end - start <= longest:
        return start, end
    if marks and marks[0].end - start > longest:
        start = max(start, marks[0].start - longest // 4)
    return start, min(end, max(start + longest, marks[0].end if marks else 0))


def _marked(text: str, start: int, end: int, marks: Sequence[_Mark]) -> str:
    parts: list[str] = []
    at = start
    for mark_start, mark_end in _merged(marks, end):
        parts += [text[at:mark_start], OPEN, text[mark_start:mark_end], CLOSE]
        at = mark_end
    return "".join([*parts, text[at:end]])


def _merged(marks: Sequence[_Mark], limit: int) -> list[tuple[int, int]]:
    """The places of the marks, overlapping and touching ones as one."""
    merged: list[tuple[int, int]] = []
    for mark in marks:
        if mark.end > limit:
            continue
        if merged and mark.start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], mark.end))
        else:
            merged.append((mark.start, mark.end))
    return merged
