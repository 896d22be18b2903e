"""One history in four stores: the same question gives the same messages in the same order, with the same snippets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from search.ranking.corpus import NOW, built
from search.ranking.stories import judged
from servers import mysql_stores
from servers.postgres import server
from sessiondb import SessionDB
from sessiondb.backends.memory import MemoryProvider
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.provider import SessionDBProvider
from sessiondb.search.recall import rank_messages

QUESTIONS = sorted({each.query for each in judged()})[::3]
OTHERS = ("memory", "postgresql", "mysql")
SHOWN = 10

Stores = dict[str, SessionDB]


def provider(name: str, mysql: mysql_stores.Stores) -> SessionDBProvider:
    if name == "postgresql":
        postgres = PostgreSQLProvider()
        postgres.initialize(dsn=server().dsn("laws"), schema="agreement")
        return postgres
    if name == "mysql":
        found = MySQLProvider()
        found.initialize(**mysql.server.options(database=mysql.empty_database()))
        return found
    memory = MemoryProvider()
    memory.initialize()
    return memory


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    with ExitStack() as opened, mysql_stores.opened() as mysql:
        first = opened.enter_context(built(tmp_path_factory.mktemp("agreement")).db)
        documents = sorted(first.export_all(), key=lambda document: document["started_at"])
        found = {"sqlite": first}
        for name in OTHERS:
            db = SessionDB(provider=provider(name, mysql), clock=lambda: NOW)
            found[name] = opened.enter_context(db)
            db.import_sessions(documents)
        yield found


def recalled(db: SessionDB, question: str) -> list[tuple[Any, ...]]:
    return [(hit["session_id"], hit["role"], hit["snippet"]) for hit in rank_messages(db, question, SHOWN)]


def searched(db: SessionDB, question: str, order: str) -> list[tuple[Any, ...]]:
    hits = db.search_messages(question, limit=SHOWN, order=order)
    return [(hit["session_id"], hit["snippet"], hit["context"], hit["matched"]) for hit in hits]


@pytest.mark.parametrize("name", OTHERS)
def test_recall_ranks_alike(stores: Stores, name: str) -> None:
    differing = [each for each in QUESTIONS if recalled(stores[name], each) != recalled(stores["sqlite"], each)]
    assert differing == []


@pytest.mark.parametrize("order", ["relevance", "newest", "oldest"])
@pytest.mark.parametrize("name", OTHERS)
def test_search_finds_and_orders_alike(stores: Stores, name: str, order: str) -> None:
    # Two words each, so that all of them are in some messages.
    boxes = [" ".join(question.split()[:2]) for question in QUESTIONS] + ["the", "error OR server", '"in the"', "con*"]
    differing = [
        each for each in boxes if searched(stores[name], each, order) != searched(stores["sqlite"], each, order)
    ]
    assert differing == []
