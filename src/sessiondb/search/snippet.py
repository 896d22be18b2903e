"""The lines of a message that show why it was found, made from the stored text: the same on every engine."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from ..models import MessageRow
from ..values import NamedTuple
from .analyze import Places, extra, located, unspaced
from .match import length, positions
from .nodes import Leaf, Node, Phrase, Term, leaves
from .plain_snippet import CLOSE, CUT, OPEN, plain_snippet
from .text import readable, tool_text

__all__ = ["CLOSE", "CUT", "OPEN", "places_snippet", "row_snippet", "snippet"]

# A word may be a megabyte of noise; this many characters a token are shown at most.
_CHARACTERS = 16
# Of a text longer than this only a part is taken to words; of its matches so many are looked at.
_LONG = 8000
_LOOKED_AT = 100


class _Mark(NamedTuple):
    """A found leaf: its number, its first and last token, its place in the text."""

    leaf: int
    first: int
    last: int
    start: int
    end: int


def snippet(text: str, node: Node | None, *, width: int = 40) -> str:
    """About `width` words around the best matches, each as >>>match<<<; the head of the text when there is none."""
    plain = plain_snippet(text, node, width, width * _CHARACTERS)
    return _Text(text, node).snippet(width) if plain is None else plain


def row_snippet(row: MessageRow, node: Node | None, *, width: int = 40) -> str:
    """The snippet of the message's text, or of its tool calls when only they match."""
    plain = plain_snippet(text := readable(row), node, width, width * _CHARACTERS)
    if plain is not None:
        return plain
    body = _Text(text, node)
    tools = "" if body.marks else tool_text(row)
    if not tools:
        return body.snippet(width)
    aside = _Text(tools, node)
    return aside.snippet(width) if aside.marks or not body.text else body.snippet(width)


class _Text:
    """A text, or of a long one the stretch that matters, with its words and the matches among them."""

    def __init__(self, text: str, node: Node | None) -> None:
        self.text = text
        self._look(node, *_stretch(text, node))
        if not self.marks and len(self.shown) < len(text):
            self._look(node, 0, len(text))

    def _look(self, node: Node | None, first: int, last: int) -> None:
        self.first = first
        self.shown = self.text[first:last]
        self.words, self.places = located(self.shown)
        self.marks = _marks(self.shown, node, self.words, self.places)

    def snippet(self, width: int) -> str:
        text, total = self.shown, len(self.words)
        first = _best_window(self.marks, total, width)
        last = min(first + width, total) - 1
        shown = [mark for mark in self.marks if first <= mark.first and mark.last <= last]
        start = self.places(first)[0] if first else 0
        end = self.places(last)[1] if 0 <= last < total - 1 else len(text)
        start, end = _clipped(start, end, shown, width)
        cut_before, cut_after = CUT * (self.first + start > 0), CUT * (self.first + end < len(self.text))
        return cut_before + _marked(text, start, end, shown) + cut_after


def _stretch(text: str, node: Node | None) -> tuple[int, int]:
    """Where to look for matches: everywhere, or in a long text first around the place that seems to have most."""
    lowered = text.lower() if len(text) > _LONG else text
    if lowered is text or node is None or len(lowered) != len(text):
        return 0, len(text)
    places = [(at, number) for number, leaf in enumerate(leaves(node)) for at in _occurrences(leaf, lowered)]
    if not places:
        return 0, len(text)
    places.sort()
    best = max(range(len(places)), key=lambda at: (_variety(places, at), -at))
    middle = places[best][0]
    return _at_blank(text, middle - _LONG // 4), _at_blank(text, middle + _LONG // 2)


def _occurrences(leaf: Leaf, lowered: str) -> Iterator[int]:
    """Where the leaf may begin: most words stand in the lower case of a text as they are compared."""
    first = leaf.tokens[0] if isinstance(leaf, Phrase) else leaf.token
    before = "" if unspaced(first) else r"(?<![^\W_])"
    behind = "" if unspaced(first) or (leaf.prefix and isinstance(leaf, Term)) else r"(?![^\W_])"
    found = re.finditer(before + re.escape(first) + behind, lowered)
    return (match.start() for match in islice(found, _LOOKED_AT))


def _variety(places: Sequence[tuple[int, int]], at: int) -> int:
    """How many different leaves begin soon after this place."""
    near = (leaf for place, leaf in places[at : at + _LOOKED_AT] if place < places[at][0] + _LONG // 8)
    return len(set(near))


def _at_blank(text: str, at: int) -> int:
    """The end of the word at this place, or near enough."""
    if at <= 0:
        return 0
    return next((place for place in range(at, min(at + 200, len(text))) if text[place].isspace()), min(at, len(text)))


def places_snippet(text: str, places: Sequence[tuple[int, int]], *, width: int = 40) -> str:
    """The text around the first of some places, each marked; its head when there is none."""
    longest = width * _CHARACTERS // 2
    start = max(0, places[0][0] - longest // 4) if places else 0
    end = min(len(text), max(start + longest, places[0][1] if places else 0))
    shown = [_Mark(0, 0, 0, *place) for place in places]
    return CUT * (start > 0) + _marked(text, start, end, shown) + CUT * (end < len(text))


def items_snippet(row: MessageRow, kinds: Collection[str]) -> str:
    """The text around the first thing of these kinds, each marked; a command that a tool ran stands for itself."""
    from .kinds import items

    text, found = readable(row), items(row, kinds)
    starts = ((text.find(item.text), item.text) for item in found)
    places = sorted({(start, start + len(thing)) for start, thing in starts if start >= 0})
    apart = [place for number, place in enumerate(places) if not number or place[0] >= places[number - 1][1]]
    if found and not apart:
        return OPEN + found[0].text + CLOSE
    return places_snippet(text, apart)


def _marks(text: str, node: Node | None, words: Sequence[str], places: Places) -> list[_Mark]:
    if node is None:
        return []
    found = [
        mark
        for number, leaf in enumerate(leaves(node))
        for mark in _leaf_marks(number, leaf, words, places) or _part_marks(number, leaf, text, words, places)
    ]
    return sorted(found, key=lambda mark: (mark.start, -mark.end)) if len(found) > 1 else found


def _leaf_marks(number: int, leaf: Leaf, words: Sequence[str], places: Places) -> list[_Mark]:
    size = length(leaf)
    return [
        _Mark(number, at, at + size - 1, places(at)[0], _end(leaf, at + size - 1, len(words), places))
        for at in positions(leaf, words)
    ]


def _end(leaf: Leaf, at: int, total: int, places: Places) -> int:
    """The end of a found word; of a pair found by its first character, the end of that."""
    start, end = places(at)
    if leaf.prefix and at + 1 < total:
        typed = leaf.tokens[-1] if isinstance(leaf, Phrase) else leaf.token
        following = places(at + 1)[0]
        if len(typed) == 1 and following > start:
            return min(end, following)
    return end


def _part_marks(number: int, leaf: Leaf, text: str, words: Sequence[str], places: Places) -> Iterator[_Mark]:
    """Identifiers of which the word is a part."""
    if isinstance(leaf, Term):
        for at, word in enumerate(words):
            if leaf.token in word:
                start, end = places(at)
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
