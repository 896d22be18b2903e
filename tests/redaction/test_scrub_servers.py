"""On a server: after `scrub` no row of any table holds a credential."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pymysql
import pytest
from test_scrub import fill, secrets, told

from servers import mysql_stores
from servers.postgres import schemas
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.db import SessionDB
from sessiondb.scrub import scrub

Store = tuple[SessionDB, Callable[[], str]]


def postgres_rows(options: dict[str, Any]) -> str:
    with psycopg.connect(options["dsn"]) as connection:
        sql = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
        tables = [row[0] for row in connection.execute(sql, [options["schema"]]).fetchall()]
        found = [connection.execute(f'SELECT * FROM "{options["schema"]}"."{name}"').fetchall() for name in tables]
    return str(found)


def mysql_rows(options: dict[str, Any]) -> str:
    given = {name: options[name] for name in ("host", "port", "user", "password", "database") if name in options}
    connection = pymysql.connect(**given)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW FULL TABLES WHERE table_type = 'BASE TABLE'")
            found = []
            for name, _ in list(cursor.fetchall()):
                cursor.execute(f"SELECT * FROM `{name}`")
                found.append(cursor.fetchall())
        return str(found)
    finally:
        connection.close()


@pytest.fixture(params=["postgresql", "mysql"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "postgresql":
        with schemas.lent() as lent:
            options = lent.options()
            provider: Any = PostgreSQLProvider()
            provider.initialize(**options)
            with SessionDB(provider=provider) as db:
                yield db, lambda: postgres_rows(options)
        return
    with mysql_stores.opened() as stores:
        given = stores.new()
        provider = MySQLProvider()
        provider.initialize(**given)
        with SessionDB(provider=provider) as db:
            yield db, lambda: mysql_rows(given)
        stores.recycle()


def test_no_row_holds_a_credential(store: Store) -> None:
    db, rows = store
    fill(db)
    plain = [secret.decode() for secret in secrets() if b"\n" not in secret and b"\\" not in secret]
    before = rows()
    assert len([secret for secret in plain if secret in before]) > len(told())
    report = scrub(db)
    after = rows()
    assert [secret for secret in plain if secret in after] == []
    assert [secret for secret in plain if len(secret) > 12 and secret.lower() in after.lower()] == []
    assert (report.sessions, report.trash, db.verify().ok) == (2, 1, True)
    assert len(db.search_messages("zebra", limit=1000)) == len(told())
