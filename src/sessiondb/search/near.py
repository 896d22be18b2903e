"""Words that differ by a slip of the finger: a letter more, less, another, or two in the wrong order."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..models import MessageRow, SessionRow
from .nodes import Term, leaves
from .query import Query
from .text import document, readable, tool_text

SHORTEST = 3
# Where a slip puts another letter: as words are compared, without diacritics.
ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "αβγδεζηθικλμνξοπρστυφχψω", "абвгдежзийклмнопрстуфхцчшщъыьэюя")
# How long a vocabulary is gathered where there is no index of it.
SECONDS = 0.5
# From this length on two slips are forgiven.
LONG = 7


def slips(word: str) -> int:
    """How many slips are forgiven in a word of this length; none in numbers."""
    if len(word) < SHORTEST or not word.isalpha():
        return 0
    return 2 if len(word) >= LONG else 1


def closest(word: str, vocabulary: Iterable[tuple[str, int]]) -> str | None:
    """The word of the fewest slips, then the one that most messages have; None when none is near."""
    allowed = slips(word)
    best: tuple[int, int, str] | None = None
    for other, messages in vocabulary if allowed else ():
        far = distance(word, other, allowed) if abs(len(word) - len(other)) <= allowed else None
        if far and (best is None or (far, -messages, other) < best):
            best = (far, -messages, other)
    return best[2] if best else None


def slipped(word: str) -> list[str]:
    """All words that one slip makes of this one."""
    letters = next((alphabet for alphabet in ALPHABETS if word[0] in alphabet), "")
    halves = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    less = [head + tail[1:] for head, tail in halves if tail]
    swapped = [head + tail[1] + tail[0] + tail[2:] for head, tail in halves if len(tail) > 1]
    other = [head + letter + tail[1:] for head, tail in halves if tail for letter in letters]
    more = [head + letter + tail for head, tail in halves for letter in letters]
    return [each for each in dict.fromkeys((*less, *swapped, *other, *more)) if each and each != word]


def is_near(word: str, other: str) -> bool:
    """Whether the two are the same but for the slips that are forgiven."""
    return word == other or distance(word, other, slips(word)) is not None


def distance(word: str, other: str, most: int) -> int | None:
    """The number of slips between two words; None when there are more than `most`."""
    if abs(len(word) - len(other)) > most:
        return None
    before: list[int] = []
    last: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(word):
        before, last, row = last, row, [at + 1]
        for place, typed in enumerate(other):
            cost = min(row[place] + 1, last[place + 1] + 1, last[place] + (letter != typed))
            if at and place and letter == other[place - 1] and word[at - 1] == typed:
                cost = min(cost, before[place - 1] + 1)
            row.append(cost)
        if min(row) > most:
            return None
    return row[-1] if row[-1] <= most else None


def near_words(rows: Iterable[tuple[MessageRow, SessionRow]], words: Sequence[str]) -> dict[str, str]:
    """For each word that no message has, the closest that some have; reads the newest messages for a short time."""
    until = time.monotonic() + SECONDS
    vocabulary: Counter[str] = Counter()
    for message, _ in rows:
        vocabulary.update({token for column in document(readable(message), tool_text(message)) for token in column})
        if time.monotonic() > until:
            break
    found = {word: closest(word, vocabulary.items()) for word in words if word not in vocabulary}
    return {word: other for word, other in found.items() if other is not None}


def title_words(sessions: Iterable[SessionRow]) -> Counter[str]:
    """The words of titles, with how many titles have them."""
    vocabulary: Counter[str] = Counter()
    for session in sessions:
        vocabulary.update({token for column in document(session["title"] or "", "") for token in column})
    return vocabulary


def words_of(query: Query) -> list[str]:
    """The words of a query that may hold a slip."""
    wanted = leaves(query.node) if query.node is not None else iter(())
    tokens = (token for leaf in wanted for token in ((leaf.token,) if isinstance(leaf, Term) else leaf.tokens))
    return [token for token in dict.fromkeys(tokens) if slips(token)]


def reworded(query: Query, near: Mapping[str, str]) -> str | None:
    """What was typed, with these words in the place of those; None when that is the same."""
    text = query.text
    for word, other in near.items():
        text = re.sub(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", other, text)
    return text if text != query.text else None
