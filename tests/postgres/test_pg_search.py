"""What is found, and in which order, is what the scan finds."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from servers.postgres import PostgreSQL, server
from sessiondb.backends.memory import MemoryProvider
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.db import SessionDB
from sessiondb.models import Filter, MessageFilter, Page
from sessiondb.provider import SessionDBProvider
from sessiondb.search import analyze
from sessiondb.search.nodes import Term, leaves
from sessiondb.search.query import parse
from sessiondb.testing import FakeClock

CORPUS = runpy.run_path(str(Path(__file__).parent.parent / "search" / "search_corpus.py"))["ROWS"]
TEXTS = sorted({text for _, found, other in CORPUS for text in (found, other) if text})
BOXES = sorted({box for box, _, _ in CORPUS})
COUNT = 3000


def filled(provider: SessionDBProvider) -> SessionDB:
    db = SessionDB(provider=provider, clock=FakeClock())
    for number, text in enumerate(TEXTS):
        db.append_message(db.create_session(f"s{number}", "cli"), "user", text)
    return db


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[SessionDB, SessionDB]]:
    memory, postgres = MemoryProvider(), PostgreSQLProvider()
    memory.initialize()
    postgres.initialize(dsn=server().dsn("laws"), schema="corpus")
    with filled(memory) as one, filled(postgres) as other:
        yield one, other


def found(db: SessionDB, box: str, order: Any) -> list[str]:
    hits = db.provider.search(parse(box), Filter(), MessageFilter(), Page(None), order, FakeClock().now).hits
    return [hit.message["session_id"] for hit in hits]


@pytest.mark.parametrize("box", BOXES)
def test_the_corpus_finds_the_same(both: tuple[SessionDB, SessionDB], box: str) -> None:
    one, other = both
    assert found(other, box, "newest") == found(one, box, "newest")


def is_words(box: str) -> bool:
    node = parse(box).node
    return node is not None and all(isinstance(leaf, Term) and not leaf.prefix for leaf in leaves(node))


@pytest.mark.parametrize("box", [box for box in BOXES if is_words(box)])
def test_words_rank_the_same(both: tuple[SessionDB, SessionDB], box: str) -> None:
    one, other = both
    assert found(other, box, "relevance") == found(one, box, "relevance")


def test_a_relaxed_search_gathers_the_same(both: tuple[SessionDB, SessionDB]) -> None:
    parts = [node for box in BOXES if (node := parse(box).node) is not None and is_words(box)][:30]
    answers = [db.provider.candidates(parts, Filter(), MessageFilter(), 50) for db in both]
    held = [[(hit.session_id, hit.held) for hit in answer.hits] for answer in answers]
    assert (held[0], answers[0].containing) == (held[1], answers[1].containing)


@pytest.fixture(scope="module")
def many() -> Iterator[SessionDB]:
    """Enough messages that a common word is looked for among the newest, and a rare one in the index."""
    provider = PostgreSQLProvider()
    provider.initialize(dsn=server().dsn("laws"), schema="many")
    with SessionDB(provider=provider) as db:
        db.create_session("s", "cli")
        db.append_messages("s", [{"role": "user", "content": text(number)} for number in range(COUNT)])
        yield db


class TestMany:
    @pytest.mark.parametrize("order", ["newest", "oldest"])
    @pytest.mark.parametrize(
        ("box", "holds"),
        [
            ("common", lambda number: number % 2 == 0),
            ("rare", lambda number: number % 500 == 0),
            ("common rare", lambda number: number % 500 == 0),
            ("common -third", lambda number: number % 2 == 0 and number % 3),
            ("long common", lambda number: number % 1000 == 0),
        ],
    )
    def test_pages_are_exact(self, many: SessionDB, box: str, holds: Callable[[int], bool], order: Any) -> None:
        expected = [number + 1 for number in range(COUNT) if holds(number)]
        hits = many.provider.search(parse(box), Filter(), MessageFilter(), Page(25, 5), order, 1.0).hits
        ordered = expected if order == "oldest" else expected[::-1]
        assert [hit.message["seq"] for hit in hits] == ordered[5:30]

    def test_the_total_is_about_right(self, many: SessionDB) -> None:
        total = many.provider.search(parse("common"), Filter(), MessageFilter(), Page(20), "newest", 1.0).total
        assert 0.9 * COUNT / 2 <= total <= 1.1 * COUNT / 2


class TestAnotherAnalysis:
    @pytest.fixture
    def stale(self, opened: Callable[..., SessionDB], postgres: PostgreSQL, options: dict[str, Any]) -> Iterator[Any]:
        """A store whose words another version made, and made wrong."""
        db = opened()
        db.append_messages(db.create_session("s", "cli"), [{"role": "user", "content": "needle"}] * 1200)
        schema = options["schema"]
        postgres.execute(
            f"UPDATE {schema}.schema_version SET analyser = 0", f"DELETE FROM {schema}.search_tokens", database="laws"
        )
        yield db
        postgres.execute(f"UPDATE {schema}.schema_version SET analyser = {analyze.VERSION}", database="laws")

    def test_a_search_reads_the_messages_and_says_so(self, stale: SessionDB) -> None:
        found = stale.provider.search(parse("needle"), Filter(), MessageFilter(), Page(5), "newest", 1.0)
        assert (len(found.hits), "another version" in found.notices[0]) == (5, True)

    def test_the_index_can_be_made_again(self, stale: SessionDB) -> None:
        ticks: list[tuple[int, int]] = []
        stale.provider.update_index(lambda done, total: ticks.append((done, total)))
        found = stale.provider.search(parse("needle"), Filter(), MessageFilter(), Page(None), "newest", 1.0)
        assert (len(found.hits), found.notices, ticks[-1][0] == ticks[-1][1] > 0) == (1200, (), True)


def text(number: int) -> str:
    marks = [(2, "common"), (3, "third"), (500, "rare")]
    said = " ".join([f"m{number}", *(word for step, word in marks if number % step == 0)])
    # Some are too long for one vector: their words must be put together.
    return said if number % 1000 else said + " filler" * 600 + " long"
