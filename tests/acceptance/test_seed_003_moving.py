"""The proposal of pluggable providers: moving to another one, updating while running, an asynchronous interface."""

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from servers import postgres
from sessiondb import AsyncSessionDB, SessionDB
from sessiondb.backends.sqlite import schema
from sessiondb.errors import SchemaTooNew

NEXT = schema.VERSION + 1
SUMMARY = re.compile(r"Migrated 2 sessions, 3 messages, 3 index entries in \d+\.\ds, verified\n")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    with SessionDB(path) as db:
        for name, texts in (("a", ["one", "two"]), ("b", ["中文"])):
            db.create_session(name, "cli")
            db.append_messages(name, [{"role": "user", "content": text} for text in texts])
    return path


def test_migrate_is_one_command_that_ends_with_a_summary(store: Path) -> None:
    server = postgres.server()
    server.execute("CREATE DATABASE proposal")
    url = f"postgresql://admin@127.0.0.1:{server.port}/proposal"
    command = [sys.executable, "-m", "sessiondb", "migrate", "--from", str(store), "--to", url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert SUMMARY.fullmatch(done.stdout)
    with SessionDB(url) as db:
        assert [hit["session_id"] for hit in db.search_messages("中文")] == ["b"]


def test_opening_never_migrates_by_itself(store: Path, tmp_path: Path) -> None:
    with SessionDB(tmp_path / "other.db") as db:
        assert db.session_count() == 0


def test_an_older_program_goes_on_while_the_schema_grows_and_a_new_start_is_refused(store: Path) -> None:
    with SessionDB(store) as running:
        other = apsw.Connection(str(store))
        other.execute("ALTER TABLE sessions ADD COLUMN newer TEXT")
        other.execute(f"PRAGMA user_version = {NEXT}")
        other.close()
        running.append_message("a", "user", "three")
        assert running.message_count("a") == 3
    with pytest.raises(SchemaTooNew, match=str(NEXT)):
        SessionDB(store)


def test_every_method_can_be_awaited(store: Path) -> None:
    async def work() -> int:
        async with AsyncSessionDB(store) as db:
            await db.append_message("a", "user", "three")
            return await db.message_count("a")

    assert inspect.iscoroutinefunction(AsyncSessionDB.append_message)
    assert asyncio.run(work()) == 3
