"""An import does the same on every provider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from servers import mysql_stores, postgres
from sessiondb import SessionDB
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.importers import known
from sessiondb.importers.runner import Runner
from sessiondb.provider import SessionDBProvider

from .histories import NANOBOT, OPENAI, hermes_database, lines
from .told import told

MORE = lines({"role": "user", "content": "more", "timestamp": "2026-05-01T10:00:00+00:00"})


def opened(provider: SessionDBProvider, **options: object) -> SessionDB:
    provider.initialize(**options)
    return SessionDB(provider=provider)


@pytest.fixture(params=["postgresql", "mysql", "sqlite"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SessionDB]:
    if request.param == "sqlite":
        with SessionDB(tmp_path / "state.db") as db:
            yield db
    elif request.param == "postgresql":
        with postgres.schemas.lent() as lent, opened(PostgreSQLProvider(), **lent.options()) as db:
            yield db
    else:
        with mysql_stores.opened() as stores, opened(MySQLProvider(), **stores.new()) as db:
            yield db


def test_files_come_in_grow_and_change_alike(db: SessionDB, tmp_path: Path) -> None:
    place = tmp_path / "in"
    hermes_database(place / "h" / "state.db", later=True)
    (place / "chat.jsonl").write_bytes(OPENAI)
    chat = place / "telegram_42.jsonl"
    with SessionDB("memory://") as oracle:
        for data in (NANOBOT, NANOBOT + MORE, NANOBOT + MORE, NANOBOT.replace(b"done", b"finished") + MORE):
            chat.write_bytes(data)
            reports = [Runner(each).run(known.at_paths([place], known.chosen(()))) for each in (db, oracle)]
            assert told(db) == told(oracle)
            counts = [[report.total(name) for name in ("new", "updated", "messages")] for report in reports]
            assert counts[0] == counts[1]
    assert db.verify().ok
    assert [hit["session_id"] for hit in db.search_messages("finished")] == ["telegram:42"]
