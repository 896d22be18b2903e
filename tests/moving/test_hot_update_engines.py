"""An update without a stop, on every engine: the next version upgrades the schema while this one writes.

The upgrade is killed in its middle and ended by SIGTERM; writers of this version go on, whoever comes new is refused.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import updating
from move_stores import NewPlace, Place, opened
from scale import scaled  # type: ignore[import-not-found]

from sessiondb import registry
from sessiondb.db import SessionDB
from sessiondb.errors import SchemaTooNew

ENGINES = ("sqlite", "postgresql", "mysql")
BEFORE, AFTER, NEW = scaled(40, 1000), scaled(40, 1000), scaled(60, 1000)
PATIENCE = 60.0
UNPLACED = """
    INSERT INTO messages (session_id, role, content, timestamp)
    VALUES (:session_id, 'user', 'of older code', 1.0)
"""
COUNT = """
    UPDATE sessions
       SET message_count = message_count + 1
     WHERE id = :session_id
"""


@contextmanager
def program(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, updating.__file__, *map(str, arguments)], stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> int:
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode <= 0, said
    return process.returncode


def acknowledged(acks: Path, lane: str) -> int:
    path = acks / f"{lane}.acks"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(condition: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, f"waited for {what}"
        time.sleep(0.005)


@pytest.mark.alone
@pytest.mark.parametrize("engine", ENGINES)
def test_both_versions_messages_are_there(
    new_place: NewPlace, tmp_path: Path, engine: str, say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = new_place(engine)
    told = json.dumps(place)
    opened(place).shutdown()
    try:
        with program("old", told, "first", tmp_path) as first, program("old", told, "second", tmp_path) as second:
            for lane in ("first", "second"):
                wait_for(lambda lane=lane: acknowledged(tmp_path, lane) >= BEFORE, lane)  # type: ignore[misc]
            with program("new", told, "killed", tmp_path, NEW, "die") as upgrading:
                assert ended(upgrading) == -9
            with program("new", told, "ended", tmp_path, 10**9) as upgrading:
                wait_for(lambda: acknowledged(tmp_path, "ended") >= 5, "the next version")
                upgrading.terminate()
                assert ended(upgrading) == -15
            at_update = acknowledged(tmp_path, "first"), acknowledged(tmp_path, "second")
            with program("new", told, "new", tmp_path, NEW) as new:
                assert ended(new) == 0
            for lane, before in zip(("first", "second"), at_update, strict=True):
                wait_for(lambda lane=lane, n=before: acknowledged(tmp_path, lane) >= n + AFTER, lane)  # type: ignore[misc]
            second.terminate()
            first.kill()
            assert (ended(second), ended(first)) == (-15, -9)
        known = updating.VERSIONS[engine]
        with pytest.raises(SchemaTooNew, match=f"{updating.NEXT}, this program knows {known}; upgrade"):
            opened(place)
        counts = check_all_there(place, tmp_path, monkeypatch)
        say(f"hot update, {engine}: {counts} acknowledged by both versions, 0 lost, 0 doubled")
    finally:
        as_before(place)


def check_all_there(place: Place, acks: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """With the next version: every acknowledged message once, in order, and rows of older code adopted."""
    schema = sys.modules[registry.load("providers", place[0]).__module__.rpartition(".")[0] + ".schema"]
    monkeypatch.setattr(schema, "VERSION", updating.NEXT)
    if place[0] == "sqlite":
        from sessiondb.backends.sqlite import store

        monkeypatch.setattr(store, "_READY", schema.Kind("ours", updating.NEXT))
    provider: Any = opened(place)
    db = SessionDB(provider=provider)
    total = 0
    for lane in ("first", "second", "ended", "new"):
        count = acknowledged(acks, lane)
        stored = [row["content"] for row in db.get_messages(lane)]
        # The last one may be stored and not acknowledged: its program was ended in between.
        assert stored[:count] == [f"{lane}:{number}" for number in range(count)]
        assert len(stored) <= count + 1
        total += count
    assert acknowledged(acks, "killed") == 0
    provider.driver.write(lambda tx: (tx.run(UNPLACED, {"session_id": "new"}), tx.run(COUNT, {"session_id": "new"})))
    db.append_message("new", "user", "after it")
    assert [row["content"] for row in db.get_messages("new")][-2:] == ["of older code", "after it"]
    report = db.verify()
    assert (report.problems, report.not_adopted) == ([], 0)
    provider.shutdown()
    return total


def as_before(place: Place) -> None:
    """The database is used again by others, in this version."""
    if place[0] == "postgresql":
        import psycopg

        name = place[1]["schema"]
        with psycopg.connect(place[1]["dsn"], autocommit=True) as connection:
            connection.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE'.encode())
    elif place[0] == "mysql":
        import pymysql

        arguments = {
            name: place[1][name] for name in ("host", "port", "user", "password", "database") if name in place[1]
        }
        connection = pymysql.connect(**arguments, autocommit=True, ssl_disabled=True)
        with connection.cursor() as cursor:
            cursor.execute(f"UPDATE schema_version SET version = {updating.VERSIONS['mysql']}")
            # MySQL knows no DROP COLUMN IF EXISTS.
            if cursor.execute("SHOW COLUMNS FROM sessions LIKE 'newer'"):
                cursor.execute("ALTER TABLE sessions DROP COLUMN newer")
        connection.close()
