"""Baselines, and how good a ranking is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log, log2

from sessiondb import SessionDB
from sessiondb.models import Filter, MessageFilter
from sessiondb.search.analyze import tokens
from sessiondb.search.recall import rank_messages
from sessiondb.search.text import words
from sessiondb.search.weigh import TUNING, Tuning

# A question to (message, session) pairs, best first.
Ranker = Callable[[str], list[tuple[int, str]]]
DEPTH = 50


class PlainBM25:
    """Okapi BM25 over all words of the question, any of which may match; and the same matches by age."""

    def __init__(self, db: SessionDB) -> None:
        self.rows: list[tuple[int, str, Counter[str], int]] = []
        self.containing: Counter[str] = Counter()
        for message, _ in db.provider.scan_messages(Filter(), MessageFilter(), newest=False):
            body, extra = words(message)
            counts = Counter(body + extra)
            self.rows.append((message["id"], message["session_id"], counts, len(body) + len(extra)))
            self.containing.update(counts.keys())
        self.usual_length = sum(length for *_, length in self.rows) / len(self.rows)

    def ranked(self, question: str) -> list[tuple[int, str]]:
        asked = set(tokens(question))
        scored = [(self._score(asked, counts, length), each, session) for each, session, counts, length in self.rows]
        best = sorted((entry for entry in scored if entry[0] > 0), key=lambda entry: (-entry[0], -entry[1]))
        return [(each, session) for _, each, session in best[:DEPTH]]

    def newest(self, question: str) -> list[tuple[int, str]]:
        asked = set(tokens(question))
        found = [(each, session) for each, session, counts, _ in self.rows if asked & counts.keys()]
        return sorted(found, reverse=True)[:DEPTH]

    def _score(self, asked: set[str], counts: Counter[str], length: int) -> float:
        norm = 1.2 * (0.25 + 0.75 * length / self.usual_length)
        return sum(self._rarity(word) * counts[word] * 2.2 / (counts[word] + norm) for word in asked & counts.keys())

    def _rarity(self, word: str) -> float:
        containing = self.containing[word]
        return log(1 + (len(self.rows) - containing + 0.5) / (containing + 0.5))


def ours(db: SessionDB, tuning: Tuning = TUNING) -> Ranker:
    return lambda question: [
        (hit["id"], hit["session_id"]) for hit in rank_messages(db, question, DEPTH, tuning=tuning)
    ]


def ndcg(found: Sequence[int], grades: Mapping[int, int], depth: int = 10) -> float:
    """Normalised discounted cumulative gain; 1 when the best graded stand first."""
    gained = _gain([grades.get(each, 0) for each in found[:depth]])
    return gained / _gain(sorted(grades.values(), reverse=True)[:depth])


def _gain(grades: Sequence[int]) -> float:
    return sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(grades))


def place_of(session: str, found: Sequence[tuple[int, str]]) -> int | None:
    """The place of a session among those found, from 1."""
    order = list(dict.fromkeys(each for _, each in found))
    return order.index(session) + 1 if session in order else None
