"""What a found message is worth for a question: its words, its neighbours, its conversation, its age.

All constants were chosen from the tables in docs/search.md, none for a single question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp

from ..values import dataclass
from . import rank
from .match import count
from .question import Root, Wanted
from .relaxed import Candidate


@dataclass(frozen=True, slots=True)
class Tuning:
    """The share of each thing beside the words of the message themselves, which count 1."""

    inflected: float = 0.6
    aside: float = 0.05
    neighbours: float = 0.3
    reach: int = 2
    session: float = 0.4
    title: float = 1.0
    old: float = 0.9
    fading_days: float = 30.0


TUNING = Tuning()
# The least a thing is worth that the message has, but beyond the part of its text that was weighed.
UNSEEN = 0.25
Worths = list[float]


def presence(hit: Candidate, rarities: Sequence[float]) -> Worths:
    """What is known without the text: which things the message has, taken as once in a usual message."""
    # Bit 0 is the whole question.
    return [rarity * (hit.held >> part & 1) for part, rarity in enumerate(rarities, start=1)]


def contents(
    wanted: Sequence[Wanted], known: Worths, body: Sequence[str], extra: Sequence[str], tuning: Tuning
) -> Worths:
    """What the text is worth for each thing wanted, given what its presence is worth."""
    return [
        rarity and rarity * max(UNSEEN, rank.frequency(occurrences(thing, body, extra, tuning), len(body)))
        for thing, rarity in zip(wanted, known, strict=True)
    ]


def asides(words: Iterable[str], body: Sequence[str], tuning: Tuning) -> float:
    """What the words that only ask are worth."""
    return tuning.aside * sum(rank.frequency(body.count(word), len(body)) for word in words)


def occurrences(thing: Wanted, body: Sequence[str], extra: Sequence[str], tuning: Tuning) -> float:
    """How often a thing is said, inflections and parts of identifiers counting less."""
    typed = count(thing.exact, body)
    loose = min((_inflections(root, body) for root in thing.roots), default=typed)
    return typed + tuning.inflected * max(0, loose - typed) + rank.EXTRA_WEIGHT * count(thing.exact, extra)


def title_worths(wanted: Sequence[Wanted], rarities: Sequence[float], title: Sequence[str], tuning: Tuning) -> Worths:
    named = [occurrences(thing, title, (), tuning) > 0 for thing in wanted]
    return [tuning.title * rarity * found for rarity, found in zip(rarities, named, strict=True)]


def _inflections(root: Root, words: Iterable[str]) -> int:
    start, longest = root
    return sum([word.startswith(start) and len(word) <= longest for word in words])


def recency(age_seconds: float, tuning: Tuning) -> float:
    return tuning.old + (1 - tuning.old) * exp(-max(age_seconds, 0.0) / (tuning.fading_days * 86400))


class Field:
    """All candidates with what each is worth, so that one can profit from the others of its conversation."""

    def __init__(self, hits: Sequence[Candidate], worths: dict[int, Worths], tuning: Tuning) -> None:
        self.hits = list(hits)
        self.worths = worths
        self.tuning = tuning
        self.bonus: dict[int, float] = {}
        self.titles: dict[str, Worths] = {}

    def join(self, others: Sequence[Candidate]) -> None:
        """Take in messages that hold nothing themselves."""
        self.hits += others
        if self.worths:
            nothing = [0.0] * len(next(iter(self.worths.values())))
            self.worths |= {hit.id: nothing for hit in others}

    def scores(self, now: float) -> dict[int, float]:
        sessions: dict[str, list[Candidate]] = defaultdict(list)
        for hit in self.hits:
            sessions[hit.session_id].append(hit)
        return {each: score for hits in sessions.values() for each, score in self._session_scores(hits, now)}

    def _session_scores(self, hits: list[Candidate], now: float) -> Iterator[tuple[int, float]]:
        if len(hits) == 1 and hits[0].session_id not in self.titles:
            # Most candidates are the only one of their conversation.
            (hit,) = hits
            own_worth = sum(self.worths[hit.id])
            score = own_worth * (1 + self.tuning.session) + self.bonus.get(hit.id, 0.0)
            yield hit.id, score * recency(_age(hit, now), self.tuning)
            return
        own = {hit.seq: sum(self.worths[hit.id]) for hit in hits}
        said = self.tuning.session * self._said(hits)
        for hit in hits:
            score = own[hit.seq] + self.bonus.get(hit.id, 0.0) + said
            if len(own) > 1:
                score += self.tuning.neighbours * self._beside(own, hit.seq)
            yield hit.id, score * recency(_age(hit, now), self.tuning)

    def _said(self, hits: Sequence[Candidate]) -> float:
        """What the conversation as a whole is worth: for each thing its best message, or the title."""
        rows = [self.worths[hit.id] for hit in hits]
        title = self.titles.get(hits[0].session_id)
        best: list[float] = list(map(max, zip(*rows, title or rows[0], strict=True)))
        return sum(best)

    def _beside(self, own: Mapping[int, float], seq: int) -> float:
        """What the neighbours are worth, the nearer the more."""
        reach = range(1, self.tuning.reach + 1)
        return sum([(own.get(seq - far, 0.0) + own.get(seq + far, 0.0)) / far for far in reach])


def _age(hit: Candidate, now: float) -> float:
    """Rows of other programs may have a time that is no number; they count as old."""
    return now - (hit.timestamp if isinstance(hit.timestamp, int | float) else 0.0)
