"""The proposal of pluggable providers: the servers of its second and third phase."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg_pool
import pytest

from servers import mysql_stores
from servers.postgres import schemas
from sessiondb import SessionDB
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.provider import SessionDBProvider

TEXTS = ["nginx answers 502", "数据库连接失败"]


def write(db: SessionDB) -> None:
    db.create_session("one", "cli")
    for text in TEXTS:
        db.append_message("one", "user", text)


def contents(db: SessionDB) -> list[str]:
    return [message["content"] for message in db.get_messages("one")]


@pytest.fixture
def postgres() -> Iterator[dict[str, Any]]:
    with schemas.lent() as lent:
        yield lent.options()


@pytest.fixture
def mysql() -> Iterator[dict[str, Any]]:
    with mysql_stores.opened() as stores:
        yield stores.new()


@pytest.fixture(params=["postgres", "mysql"])
def server(request: pytest.FixtureRequest) -> SessionDBProvider:
    provider: SessionDBProvider = PostgreSQLProvider() if request.param == "postgres" else MySQLProvider()
    provider.initialize(**request.getfixturevalue(request.param))
    return provider


def test_postgresql_takes_a_dsn_or_the_callers_pool(postgres: dict[str, Any]) -> None:
    by_dsn = PostgreSQLProvider()
    by_dsn.initialize(**postgres)
    with SessionDB(provider=by_dsn) as db:
        write(db)
    dsn = postgres.pop("dsn")
    with psycopg_pool.ConnectionPool(dsn, min_size=1, max_size=2) as pool:
        by_pool = PostgreSQLProvider()
        by_pool.initialize(pool=pool, **postgres)
        with SessionDB(provider=by_pool) as db:
            assert contents(db) == TEXTS
        with pool.connection() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,), "the pool stays its owner's"


@pytest.mark.parametrize(
    ("query", "snippets"),
    [("nginx", [">>>nginx<<< answers 502"]), ("连接", ["数据库>>>连接<<<失败"]), ("连续", [])],
)
def test_words_and_ideographs_are_found_on_a_server(server: SessionDBProvider, query: str, snippets: list[str]) -> None:
    with SessionDB(provider=server) as db:
        write(db)
        assert [hit["snippet"] for hit in db.search_messages(query)] == snippets


def test_mysql_takes_the_same_calls(mysql: dict[str, Any]) -> None:
    provider = MySQLProvider()
    provider.initialize(**mysql)
    with SessionDB(provider=provider) as db:
        write(db)
        assert contents(db) == TEXTS
