"""What is found, and in which order, is what the scan finds."""

from __future__ import annotations

import runpy
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from search.search_many import CASES, COUNT, Holds, expected, messages
from servers.postgres import PASSWORD, PostgreSQL, server
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
    provider = PostgreSQLProvider()
    provider.initialize(dsn=server().dsn("laws"), schema="many")
    with SessionDB(provider=provider) as db:
        db.create_session("s", "cli")
        db.append_messages("s", messages())
        yield db


class TestMany:
    @pytest.mark.parametrize("order", ["newest", "oldest"])
    @pytest.mark.parametrize("role", [None, "user", "tool"])
    @pytest.mark.parametrize(("box", "holds"), CASES, ids=[box for box, _ in CASES])
    def test_pages_are_exact(self, many: SessionDB, box: str, holds: Holds, role: str | None, order: Any) -> None:
        wanted = MessageFilter((role,) if role else ())
        hits = many.provider.search(parse(box), Filter(ids=("s",)), wanted, Page(25, 5), order, 1.0).hits
        assert [hit.message["seq"] for hit in hits] == expected(holds, role, order)[5:30]

    def test_weights_are_those_of_a_scan(self, many: SessionDB) -> None:
        asked = (parse("common third"), Filter(), MessageFilter(), Page(None), "relevance", 1e9)
        indexed, scanned = many.provider.search(*asked), SessionDBProvider.search(many.provider, *asked)  # type: ignore[arg-type]
        order = [[hit.message["id"] for hit in found.hits][:20] for found in (indexed, scanned)]
        assert (indexed.total, order[0]) == (scanned.total, order[1])

    def test_searches_are_planned_for_their_words(self, many: SessionDB) -> None:
        for _ in range(12):
            many.search_messages("common rare")
            many.search_messages("ommo", mode="substring")
        prepared = many.provider.driver.read(  # type: ignore[attr-defined]
            lambda tx: tx.rows("SELECT statement FROM pg_prepared_statements")
        )
        assert [text for (text,) in prepared if "tsv" in text] == []

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
        stale.index(lambda done, total: ticks.append((done, total)))
        found = stale.provider.search(parse("needle"), Filter(), MessageFilter(), Page(None), "newest", 1.0)
        assert (len(found.hits), found.notices, ticks[-1][0] == ticks[-1][1] > 0) == (1200, (), True)


class TestAfterALoad:
    """What the server does by itself minutes later is done by `index()`, where the role may."""

    WAITING = "SELECT n_pending_tuples FROM gin_metapage_info(get_raw_page('{schema}.search_tokens_tsv', 0))"

    @pytest.fixture
    def loaded(self, opened: Callable[..., SessionDB]) -> SessionDB:
        db = opened()
        db.append_messages(db.create_session("s", "cli"), [{"role": "user", "content": "needle"}] * 3000)
        return db

    def test_no_words_wait_in_a_list(self, loaded: SessionDB, postgres: PostgreSQL, options: dict[str, Any]) -> None:
        postgres.execute("CREATE EXTENSION IF NOT EXISTS pageinspect", database="laws")
        waiting = self.WAITING.format(schema=options["schema"])
        counts = []
        for _ in range(2):
            with psycopg.connect(postgres.dsn("laws")) as connection:
                counts.append(connection.execute(waiting.encode()).fetchone())
            loaded.index()
        assert counts[0] != (0,)
        assert counts[1] == (0,)

    def test_the_server_knows_how_common_words_are(
        self, loaded: SessionDB, postgres: PostgreSQL, options: dict[str, Any]
    ) -> None:
        counting = "SELECT analyze_count FROM pg_stat_user_tables WHERE relid = to_regclass(%s)"

        def looks() -> Any:
            with psycopg.connect(postgres.dsn("laws")) as connection:
                return connection.execute(counting, [f"{options['schema']}.search_tokens"]).fetchone()

        before, until = looks(), time.monotonic() + 10
        # The server counts changed rows with a delay.
        while looks() == before and time.monotonic() < until:
            loaded.index()
        assert looks() > before

    def test_a_role_that_owns_nothing_leaves_it_to_the_server(
        self, loaded: SessionDB, opened: Callable[..., SessionDB], postgres: PostgreSQL, options: dict[str, Any]
    ) -> None:
        schema = options["schema"]
        postgres.execute(
            f"GRANT USAGE ON SCHEMA {schema} TO guarded",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO guarded",
            f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO guarded",
            database="laws",
        )
        opened(dsn=postgres.dsn("laws", "guarded", PASSWORD)).index()
        assert len(loaded.search_messages("needle", limit=5)) == 5
        postgres.execute("DROP OWNED BY guarded", database="laws")


def test_a_word_that_nobody_said_costs_two_statements(many: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    execute = psycopg.Connection.execute

    def counted(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        sent.append(str(query))
        return execute(self, query, *args, **kwargs)

    # A connection that rested is asked whether it lives.
    many.search_messages("nobodysaidthis")
    monkeypatch.setattr(psycopg.Connection, "execute", counted)
    assert (list(many.search_messages("nobodysaidthis")), len(sent)) == ([], 2)
