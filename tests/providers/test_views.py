"""v1_sessions and v1_messages: the same on every engine, there after an upgrade, for reading only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
import yaml

from servers import mysql_stores
from servers.postgres import schemas
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.backends.sqlite import SQLiteProvider
from sessiondb.db import SessionDB

Ask = Callable[[str], list[dict[str, Any]]]
Store = tuple[Callable[[], SessionDB], Ask]

SESSIONS = [
    "id", "source", "title", "model", "cwd", "git_branch", "origin", "host", "user_id", "chat_id", "parent_session_id",
    "parent_title", "relation", "end_reason", "started_at", "ended_at", "last_active", "started_time", "ended_time",
    "last_active_time", "message_count", "tool_call_count", "input_tokens", "output_tokens", "cache_read_tokens",
    "cache_write_tokens", "reasoning_tokens", "cost_usd", "cost_status", "archived_at", "pinned_at", "system_prompt",
]  # fmt: skip
MESSAGES = [
    "id", "session_id", "source", "title", "seq", "role", "content", "content_type", "tool_name", "tool_call_id",
    "tool_calls", "reasoning", "finish_reason", "provider", "model", "input_tokens", "output_tokens", "injected",
    "timestamp", "message_time",
]  # fmt: skip


@pytest.fixture(scope="session")
def mysql() -> Iterator[mysql_stores.Stores]:
    with mysql_stores.opened() as opened:
        yield opened


def on_sqlite(path: Path) -> Store:
    def ask(sql: str) -> list[dict[str, Any]]:
        connection = apsw.Connection(str(path / "state.db"), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            cursor = connection.cursor()
            # The names of columns are known as long as there are rows.
            return [dict(zip([each[0] for each in cursor.description], row)) for row in cursor.execute(sql)]  # noqa: B905
        finally:
            connection.close()

    def opened() -> SessionDB:
        provider = SQLiteProvider()
        provider.initialize(path=path / "state.db", synchronous="NORMAL")
        return SessionDB(provider=provider)

    return opened, ask


def on_postgres(options: dict[str, Any]) -> Store:
    def ask(sql: str) -> list[dict[str, Any]]:
        with psycopg.connect(options["dsn"], row_factory=psycopg.rows.dict_row) as connection:
            connection.execute(f'SET search_path TO "{options["schema"]}"')
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def opened() -> SessionDB:
        provider = PostgreSQLProvider()
        provider.initialize(**options)
        return SessionDB(provider=provider)

    return opened, ask


def on_mysql(stores: mysql_stores.Stores) -> Store:
    options = stores.new()

    def opened() -> SessionDB:
        provider = MySQLProvider()
        provider.initialize(**options)
        return SessionDB(provider=provider)

    def ask(sql: str) -> list[dict[str, Any]]:
        import pymysql

        given = {name: options[name] for name in ("host", "port", "user", "password", "unix_socket") if name in options}
        connection = pymysql.connect(**given, database=options["database"], cursorclass=pymysql.cursors.DictCursor)
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return list(cursor.fetchall())
        finally:
            connection.commit()
            connection.close()

    return opened, ask


@pytest.fixture(params=["sqlite", "postgresql", "mysql"])
def store(request: pytest.FixtureRequest, fast_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        yield on_sqlite(fast_path)
    elif request.param == "postgresql":
        with schemas.lent() as lent:
            yield on_postgres(lent.options())
    else:
        found = request.getfixturevalue("mysql")
        yield on_mysql(found)
        found.recycle()


def fill(db: SessionDB) -> None:
    with db:
        db.create_session("p", "cli", started_at=1_700_000_000.25, model="m", cwd="/src")
        db.set_session_title("p", "deploy")
        db.create_session("c", "cli", parent_session_id="p", started_at=1_700_000_001.0, relation="subagent")
        db.update_token_counts("p", input_tokens=7, output_tokens=3, estimated_cost_usd=0.5)
        first = db.append_message("p", "user", "zebra 🦓", timestamp=1_700_000_002.5)
        db.append_message("p", "assistant", "rewound", timestamp=1_700_000_003.0)
        db.rewind_to_message("p", first)
        db.create_session("gone", "cli")
        db.delete_session("gone")


def moment(value: Any) -> str:
    return str(value).replace("T", " ")[:22].rstrip("0").removesuffix(".")


def test_the_columns_are_those_that_are_promised(store: Store) -> None:
    opened, ask = store
    fill(opened())
    assert list(ask("SELECT * FROM v1_sessions")[0]) == SESSIONS
    assert list(ask("SELECT * FROM v1_messages")[0]) == MESSAGES


def test_sessions_are_shown_with_parent_time_and_cost(store: Store) -> None:
    opened, ask = store
    fill(opened())
    child, parent = ask("SELECT * FROM v1_sessions ORDER BY id")
    assert (child["id"], child["parent_title"], child["relation"], child["cost_usd"]) == (
        "c",
        "deploy",
        "subagent",
        None,
    )
    assert (parent["message_count"], parent["input_tokens"], parent["cost_usd"]) == (1, 7, 0.5)
    assert moment(parent["started_time"]) == "2023-11-14 22:13:20.25"
    assert parent["ended_time"] is None


def test_messages_are_those_of_the_conversation_as_it_stands(store: Store) -> None:
    opened, ask = store
    fill(opened())
    (row,) = ask("SELECT * FROM v1_messages")
    assert (row["session_id"], row["title"], row["seq"], row["role"], row["content"]) == (
        "p",
        "deploy",
        1,
        "user",
        "zebra 🦓",
    )
    assert moment(row["message_time"]) == "2023-11-14 22:13:22.5"


def test_moments_beyond_the_calendar_are_null(store: Store) -> None:
    opened, ask = store
    with opened() as db:
        db.create_session("far", "cli", started_at=1e17)
    assert ask("SELECT started_time FROM v1_sessions")[0]["started_time"] is None


def test_an_upgraded_store_has_them(store: Store) -> None:
    opened, ask = store
    with opened() as db:
        kind = db.provider.name
    for view in ("v1_sessions", "v1_messages"):
        ask(f"DROP VIEW {view}")
    ask("PRAGMA user_version = 1001" if kind == "sqlite" else "UPDATE schema_version SET version = 1001")
    fill(opened())
    assert len(ask("SELECT id FROM v1_messages")) == 1


def test_nothing_is_added_or_removed_through_them(store: Store) -> None:
    opened, ask = store
    fill(opened())
    for sql in ("DELETE FROM v1_messages", "DELETE FROM v1_sessions"):
        with pytest.raises(Exception, match=r"(?i)view|updatable"):
            ask(sql)
    assert len(ask("SELECT id FROM v1_sessions")) == 2


def test_datasette_shows_the_views_and_hides_everything_else(fast_path: Path) -> None:
    """A table that a later schema adds must be hidden in the example too: tables are no interface."""
    opened, ask = on_sqlite(fast_path)
    opened().close()
    there = {row["name"] for row in ask("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")}
    example = Path(__file__).parents[2] / "examples" / "datasette" / "metadata.yml"
    described = yaml.safe_load(example.read_text())["databases"]["state"]["tables"]
    hidden = {name for name, facts in described.items() if facts.get("hidden")}
    assert there - hidden == {"v1_sessions", "v1_messages"}
