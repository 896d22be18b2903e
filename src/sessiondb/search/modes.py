"""Searching the text itself instead of its words: parts of words, words with slips, regular expressions.

No index serves these; messages are read one by one, the newest first, until the page is full or the time is up.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, Protocol

from ..errors import Invalid, MissingExtra
from ..models import Match, Matches, MessageRow, Page, SessionRow, TextMode
from ..values import replace
from . import analyze, near
from .query import Query
from .text import readable, tool_text

EMPTY = "the pattern is empty"
Place = tuple[int, int]


def stopped(deadline: float) -> str:
    return f"stopped after {deadline:g} s: not all messages were read; narrow the search or give it more time"


class TimeIsUp(Exception):
    """A single text took longer than the search may take."""


class Finder(Protocol):
    def places(self, text: str, seconds: float) -> list[Place]:
        """Where the pattern is in the text, none when it does not match; raises TimeIsUp."""


def finder(pattern: str, mode: TextMode) -> Finder:
    """Raises MissingExtra where regular expressions are not installed, Invalid for a broken one."""
    kinds: dict[TextMode, Callable[[str], Finder]] = {"substring": Substring, "fuzzy": Fuzzy, "regex": Regex}
    return kinds[mode](pattern)


def searched_text(message: MessageRow) -> str:
    """What is searched of a message: its text, then names and arguments of its tools."""
    tools = tool_text(message)
    return f"{readable(message)}\n{tools}" if tools else readable(message)


def scan_text(
    rows: Iterable[tuple[MessageRow, SessionRow]], pattern: str, mode: TextMode, page: Page, deadline: float
) -> Matches:
    """The page of matches in the order of the rows; `total` counts those that were seen."""
    if not pattern.strip():
        return Matches((), 0, notices=(EMPTY,))
    until = time.monotonic() + deadline
    return _paged(_matching(rows, finder(pattern, mode), until), page, deadline)


def admitted(rows: Iterable[tuple[MessageRow, SessionRow]], query: Query, page: Page, deadline: float) -> Matches:
    """The page of messages that the query admits, in the order of the rows; `total` counts those that were seen."""
    until = time.monotonic() + deadline
    found = _paged((message for message, _ in _in_time(rows, until) if query.admits(message)), page, deadline)
    return replace(found, notices=(*query.notices, *found.notices))


def _paged(matching: Iterator[MessageRow], page: Page, deadline: float) -> Matches:
    end = None if page.limit is None else page.offset + page.limit
    hits: list[Match] = []
    notices: tuple[str, ...] = ()
    try:
        for message in matching:
            hits.append(Match(message, 0.0))
            if end is not None and len(hits) >= end:
                break
    except TimeIsUp:
        notices = (stopped(deadline),)
    return Matches(hits[page.offset : end], len(hits), notices=notices)


def _matching(rows: Iterable[tuple[MessageRow, SessionRow]], wanted: Finder, until: float) -> Iterator[MessageRow]:
    for message, left in _in_time(rows, until):
        if wanted.places(searched_text(message), left):
            yield message


def _in_time(rows: Iterable[tuple[MessageRow, SessionRow]], until: float) -> Iterator[tuple[MessageRow, float]]:
    """Messages, each with the seconds that are left."""
    for message, _ in rows:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeIsUp
        yield message, left


class Substring:
    """The very characters, upper or lower case."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(re.escape(pattern), re.IGNORECASE)

    def places(self, text: str, seconds: float) -> list[Place]:
        return [found.span() for found in self._pattern.finditer(text)]


class Fuzzy:
    """All words, each with the slips that its length forgives."""

    def __init__(self, pattern: str) -> None:
        # A word is compared once, however often it comes.
        self._words = {word: {word: True} for word in analyze.tokens(pattern)}

    def places(self, text: str, seconds: float) -> list[Place]:
        present = set(analyze.tokens(text))
        if not self._words or not all(any(self._is_near(word, other) for other in present) for word in self._words):
            return []
        located = analyze.spans(text)
        return [
            (start, end) for token, start, end in located if any(self._is_near(word, token) for word in self._words)
        ]

    def _is_near(self, word: str, other: str) -> bool:
        known = self._words[word]
        if other not in known:
            known[other] = near.is_near(word, other)
        return known[other]


class Regex:
    """A regular expression, upper or lower case unless it says otherwise."""

    def __init__(self, pattern: str) -> None:
        # The standard library's engine cannot be stopped: one bad pattern would hang the whole process.
        try:
            engine: Any = import_module("regex")
        except ImportError:
            raise MissingExtra("searching by regular expression", "regex") from None
        try:
            self._pattern = engine.compile(pattern, engine.IGNORECASE)
        except engine.error as exc:
            raise Invalid(
                f"the regular expression {pattern!r} is broken: {exc}; mode='substring' takes any text"
            ) from exc

    def places(self, text: str, seconds: float) -> list[Place]:
        try:
            found = [match.span() for match in self._pattern.finditer(text, timeout=max(seconds, 0.001))]
        except TimeoutError:
            raise TimeIsUp from None
        return [(start, end) for start, end in found if end > start]
