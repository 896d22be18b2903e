"""Judged queries and planted answers: our ranking is at least as good as what is simpler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from ranking.corpus import Corpus, built
from ranking.measures import PlainBM25, Ranker, ndcg, ours
from ranking.stories import HELD_OUT, TUNED, judged, stories
from ranking.tables import comparison, held_out, judged_gain, recall

MEMORY = Path("/dev/shm")
Table = Callable[[Corpus], Iterator[str]]


@pytest.fixture(scope="module")
def corpus() -> Iterator[Corpus]:
    with TemporaryDirectory(prefix="sessiondb-ranking-", dir=MEMORY if MEMORY.is_dir() else None) as directory:
        made = built(Path(directory))
        yield made
        made.db.close()


@pytest.fixture(scope="module")
def rankers(corpus: Corpus) -> dict[str, Ranker]:
    """Each asks a question once, however many tests want to know."""
    plain = PlainBM25(corpus.db)
    return {"ours": cache(ours(corpus.db)), "bm25": cache(plain.ranked), "newest": cache(plain.newest)}


def test_the_judgements_are_many_and_name_what_exists(corpus: Corpus) -> None:
    queries = judged()
    assert len({each.query for each in queries}) == 60
    assert all(place in corpus.ids for each in queries for place in each.grades)


def test_a_third_of_a_hundred_questions_is_paraphrased() -> None:
    told = stories()
    assert len({story.question for story in told}) == 100
    assert sum(story.paraphrased for story in told) >= 33


def test_the_best_order_gains_one_and_nothing_gains_nothing() -> None:
    grades = {1: 3, 2: 2, 3: 1}
    assert ndcg([1, 2, 3], grades) == 1.0
    assert 0.0 == ndcg([4, 5], grades) < ndcg([3, 2, 1], grades) < 1.0


@pytest.mark.parametrize("name", ["bm25", "newest"])
def test_judged_queries_gain_no_less(corpus: Corpus, rankers: dict[str, Ranker], name: str) -> None:
    assert judged_gain(corpus, rankers["ours"]) >= judged_gain(corpus, rankers[name])


@pytest.mark.parametrize("paraphrased", [False, True])
@pytest.mark.parametrize("name", ["bm25", "newest"])
def test_planted_answers_are_found_no_less(
    corpus: Corpus, rankers: dict[str, Ranker], name: str, paraphrased: bool
) -> None:
    asked = [story for story in stories() if story.paraphrased is paraphrased]
    found, simpler = (recall(corpus, rankers[each], asked) for each in ("ours", name))
    assert found.session_1 >= simpler.session_1
    assert found.session_5 >= simpler.session_5
    assert found.turn_10 >= simpler.turn_10


@pytest.mark.parametrize(("table", "folders"), [(comparison, (TUNED,)), (held_out, (TUNED, HELD_OUT))])
def test_the_tables_in_the_documentation_are_true(
    table: Table, folders: tuple[str, ...], fast_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = built(fast_path, *folders)
    printed = "\n".join(table(made))
    made.db.close()
    with capsys.disabled():
        print(f"\n{printed}")
    documented = (Path(__file__).parents[2] / "docs" / "search.md").read_text(encoding="utf-8")
    assert printed in documented, "reprint docs/search.md: cd tests/search && python -m ranking"
