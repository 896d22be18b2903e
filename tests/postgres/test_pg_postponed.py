"""The search index of a store that is filled is put off: it answers the same meanwhile, and is whole in the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from servers.postgres import PostgreSQL
from sessiondb.backends.postgres.provider import NO_INDEX
from sessiondb.db import SessionDB
from sessiondb.migrate import Move

INDEXES = {"search_tokens_tsv", "search_tokens_long", "search_tokens_cut", "search_tokens_trigrams"}
Open = Callable[..., SessionDB]


@pytest.fixture
def options(postgres: PostgreSQL, request: pytest.FixtureRequest) -> Any:
    schema = request.node.name[:60]
    yield {"dsn": postgres.dsn("laws"), "schema": schema, "deadline": 5.0}
    postgres.execute(f'DROP SCHEMA "{schema}" CASCADE', database="laws")


@pytest.fixture
def definitions(postgres: PostgreSQL, options: dict[str, Any]) -> Callable[[], dict[str, str]]:
    def listed() -> dict[str, str]:
        with psycopg.connect(postgres.dsn("laws")) as connection:
            sql = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = %s AND tablename = 'search_tokens'"
            return dict(connection.execute(sql, [options["schema"]]).fetchall())

    return listed


@pytest.fixture
def history() -> SessionDB:
    db = SessionDB("memory://")
    for number in range(5):
        db.create_session(f"s{number}", "cli")
        db.append_messages(
            f"s{number}", [{"role": "user", "content": f"needle{number} hay {each}"} for each in range(60)]
        )
    return db


def found(db: SessionDB) -> list[Any]:
    return [
        [row["id"] for row in answer]
        for answer in (db.search_messages("needle3 hay", limit=5), db.search_messages("eedle4", mode="substring"))
    ]


def test_it_is_the_same_index_in_the_end(
    opened: Open, definitions: Callable[[], dict[str, str]], history: SessionDB
) -> None:
    db = opened()
    before = definitions()
    assert before.keys() >= INDEXES
    done = Move(history.provider, db.provider, source_name="history").run()
    assert (done.verified, done.index_entries) == (True, 300)
    assert definitions() == before


def test_a_load_that_was_broken_off_answers_the_same_and_can_be_made_up(
    opened: Open, definitions: Callable[[], dict[str, str]], history: SessionDB
) -> None:
    db = opened()
    whole = definitions()
    db.provider.expect_load()
    assert not definitions().keys() & INDEXES
    for entry in history.provider.catalogue():
        part = history.provider.read_part(entry.id)
        assert part is not None
        db.provider.load([part])
    later = opened()
    assert not later.provider.features.indexed_text_search
    slowly = found(later)
    assert NO_INDEX in later.search_messages("needle3").notices
    assert later.health()["index_put_off"]
    later.index()
    assert NO_INDEX not in later.search_messages("needle3").notices
    assert not later.health()["index_put_off"]
    assert definitions() == whole
    assert later.provider.features.indexed_text_search
    assert found(later) == slowly
    assert [len(answer) for answer in slowly] == [5, 20]


def test_a_store_with_messages_keeps_its_index(opened: Open, definitions: Callable[[], dict[str, str]]) -> None:
    db = opened()
    db.append_message(db.create_session("s", "cli"), "user", "here first")
    before = definitions()
    db.provider.expect_load()
    assert definitions() == before


def test_letters_that_are_not_wished_for_are_not_made(
    opened: Open, definitions: Callable[[], dict[str, str]], history: SessionDB
) -> None:
    db = opened(trigrams="off")
    before = definitions()
    Move(history.provider, db.provider, source_name="history").run()
    assert definitions() == before
    assert not before.keys() & {"search_tokens_trigrams", "search_tokens_cut"}


def test_a_role_that_may_not_change_tables_loads_with_the_index(
    opened: Open, postgres: PostgreSQL, options: dict[str, Any], history: SessionDB,
    definitions: Callable[[], dict[str, str]],
) -> None:  # fmt: skip
    opened()
    before = definitions()
    schema = options["schema"]
    postgres.execute(
        "CREATE ROLE filler LOGIN",
        f'GRANT USAGE ON SCHEMA "{schema}" TO filler',
        f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{schema}" TO filler',
        f'GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA "{schema}" TO filler',
        database="laws",
    )
    try:
        db = opened(dsn=postgres.dsn("laws", user="filler"))
        assert Move(history.provider, db.provider, source_name="history").run().verified
        assert definitions() == before
    finally:
        postgres.execute("DROP OWNED BY filler", "DROP ROLE filler", database="laws")
