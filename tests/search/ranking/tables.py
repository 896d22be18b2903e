"""The tables of docs/search.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from sessiondb.search.weigh import TUNING, Tuning

from .corpus import Corpus
from .measures import PlainBM25, Ranker, ndcg, ours, place_of
from .stories import HELD_OUT, Story, judged, stories

TITLE = "| ranking | nDCG@10 | session@1 | session@5 | turn@10 | paraphrased: session@1 | session@5 | turn@10 |"


@dataclass(frozen=True)
class Recall:
    """Shares of questions whose conversation is first, among the first five, and whose answer is among ten turns."""

    session_1: float
    session_5: float
    turn_10: float


def judged_gain(corpus: Corpus, ranker: Ranker) -> float:
    """The mean nDCG@10 of the judged queries."""
    gains = []
    for each in judged():
        grades = {corpus.ids[place]: grade for place, grade in each.grades.items()}
        gains.append(ndcg([message for message, _ in ranker(each.query)], grades))
    return sum(gains) / len(gains)


def recall(corpus: Corpus, ranker: Ranker, asked: Sequence[Story]) -> Recall:
    first = five = turn = 0
    for story in asked:
        found = ranker(story.question)
        place = place_of(story.key, found)
        first += place == 1
        five += place is not None and place <= 5
        turn += corpus.answer(story) in [message for message, _ in found[:10]]
    return Recall(first / len(asked), five / len(asked), turn / len(asked))


def row(name: str, corpus: Corpus, ranker: Ranker) -> str:
    told, ranker = stories(), cache(ranker)
    everything = recall(corpus, ranker, told)
    hard = recall(corpus, ranker, [story for story in told if story.paraphrased])
    figures = [judged_gain(corpus, ranker)]
    for found in (everything, hard):
        figures += [found.session_1, found.session_5, found.turn_10]
    return f"| {name} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |"


def comparison(corpus: Corpus) -> Iterator[str]:
    """Ours beside what is simpler."""
    plain = PlainBM25(corpus.db)
    yield from (TITLE, "|---" * 8 + "|")
    yield row("newest first (OR)", corpus, plain.newest)
    yield row("bm25 (OR)", corpus, plain.ranked)
    yield row("ours", corpus, ours(corpus.db))


def held_out(corpus: Corpus) -> Iterator[str]:
    """Questions that were written after all choices were made."""
    plain = PlainBM25(corpus.db)
    asked = stories(HELD_OUT)
    yield from ("| ranking | session@1 | session@5 | turn@10 |", "|---" * 4 + "|")
    for name, ranker in (("newest first (OR)", plain.newest), ("bm25 (OR)", plain.ranked), ("ours", ours(corpus.db))):
        found = recall(corpus, ranker, asked)
        yield f"| {name} | {found.session_1:.3f} | {found.session_5:.3f} | {found.turn_10:.3f} |"


def variations() -> Iterator[tuple[str, Tuning]]:
    """Each constant changed alone."""
    choices: dict[str, Sequence[float]] = {
        "inflected": (0.0, 0.3, 0.6, 0.9),
        "aside": (0.0, 0.05, 0.1, 0.2, 0.5),
        "neighbours": (0.0, 0.1, 0.2, 0.3, 0.5, 0.8),
        "reach": (1, 2, 3, 4),
        "session": (0.0, 0.15, 0.3, 0.5, 0.8, 1.2),
        "title": (0.0, 0.5, 1.0, 1.5),
        "old": (0.3, 0.6, 0.8, 0.9, 1.0),
    }
    for name, values in choices.items():
        for value in values:
            yield f"{name} = {value}", replace(TUNING, **{name: value})


def ablation(corpus: Corpus) -> Iterator[str]:
    """What each constant does, the others as they are."""
    yield from (TITLE, "|---" * 8 + "|")
    for name, tuning in variations():
        yield row(name, corpus, ours(corpus.db, tuning))
