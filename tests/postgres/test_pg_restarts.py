"""Servers restart and connections die under load: with keys nothing is lost and nothing doubled."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from servers.postgres import PostgreSQL
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.backends.postgres.connection import PostgresTx
from sessiondb.db import SessionDB
from sessiondb.errors import ConnectionLost

pytestmark = pytest.mark.alone

LONG = os.environ.get("SESSIONDB_TORTURE") == "1"
APPENDS = 20_000 if LONG else 3_000
RESTARTS = 10 if LONG else 2
WRITERS = 4
KILL_CONNECTIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sessiondb'"

Open = Callable[..., SessionDB]


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgreSQL]:
    """A server of this module's own, which it may kill."""
    server = PostgreSQL(durable=True, fsync="on", full_page_writes="on")
    try:
        yield server
    finally:
        server.process.remove()


def opened(server: PostgreSQL, schema: str) -> SessionDB:
    provider = PostgreSQLProvider()
    provider.initialize(dsn=server.dsn(), schema=schema, deadline=60.0, pool_size=WRITERS, max_overflow=0)
    db = SessionDB(provider=provider)
    for number in range(WRITERS):
        db.create_session(f"s{number}", "cli")
    return db


def write_all(db: SessionDB, number: int) -> int:
    for turn in range(APPENDS // WRITERS):
        db.append_message(f"s{number}", "user", f"message {turn}", message_key=f"k{turn}")
    return APPENDS // WRITERS


def under_load(db: SessionDB, disturb: Callable[[], None]) -> int:
    """Append from several threads while something happens again and again; how often it happened."""
    done = threading.Event()
    times = 0
    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write_all, db, number) for number in range(WRITERS)]
        watcher = threading.Thread(target=lambda: [each.exception() for each in writers] and done.set())
        watcher.start()
        while not done.wait(random.uniform(0.1, 0.3)):
            disturb()
            times += 1
        watcher.join()
        assert sum(each.result() for each in writers) == APPENDS
    return times


def check(db: SessionDB, what: str, times: int, seconds: float) -> None:
    expected = {f"message {turn}": 1 for turn in range(APPENDS // WRITERS)}
    counts = [Counter(row["content"] for row in db.get_messages(f"s{number}")) for number in range(WRITERS)]
    lost = sum(len(expected.keys() - found.keys()) for found in counts)
    doubled = sum(found.total() - len(found) for found in counts)
    print(f"\n{what}: {times} times during {APPENDS} appends in {seconds:.1f} s: {lost} lost, {doubled} doubled")
    assert (lost, doubled, times > 0, db.verify().ok) == (0, 0, True, True)
    assert len(db.search_messages('"message 7"', limit=1000)) == WRITERS


def test_connections_that_are_ended_lose_and_double_nothing(own_server: PostgreSQL) -> None:
    started = time.monotonic()
    with opened(own_server, "ended") as db:
        times = under_load(db, lambda: own_server.execute(KILL_CONNECTIONS))
        check(db, "all connections ended", times, time.monotonic() - started)


def test_a_server_that_is_killed_and_restarted_loses_and_doubles_nothing(own_server: PostgreSQL) -> None:
    restarts = iter(range(RESTARTS))

    def restart() -> None:
        if next(restarts, None) is not None:
            own_server.stop(signal.SIGQUIT)
            own_server.start()

    started = time.monotonic()
    with opened(own_server, "restarted") as db:
        under_load(db, restart)
        check(db, "server killed and restarted", RESTARTS - len(list(restarts)), time.monotonic() - started)


class TestLostAnswers:
    """The server commits, and the connection dies before it can say so."""

    @pytest.fixture
    def answers_get_lost(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Every tenth answer to an append never arrives."""
        lost: list[int] = []
        asked = PostgresTx.row
        calls = iter(range(1, 10**9))

        def row(tx: PostgresTx, sql: str, params: Any = None) -> Any:
            answer = asked(tx, sql, params or {})
            if "placed" in sql and next(calls) % 10 == 0:
                lost.append(answer[0] if answer else 0)
                tx.connection.close()
                raise psycopg.OperationalError("server closed the connection unexpectedly")
            return answer

        monkeypatch.setattr(PostgresTx, "row", row)
        return lost

    def test_with_keys_every_message_is_there_once(self, own_server: PostgreSQL, answers_get_lost: list[int]) -> None:
        with opened(own_server, "keyed") as db:
            ids = [db.append_message("s0", "user", str(turn), message_key=str(turn)) for turn in range(100)]
            assert [row["id"] for row in db.get_messages("s0")] == ids
            assert (len(answers_get_lost) >= 10, len(set(ids)), db.verify().ok) == (True, 100, True)

    def test_without_keys_who_repeats_stores_twice(self, own_server: PostgreSQL, answers_get_lost: list[int]) -> None:
        with opened(own_server, "keyless") as db:
            for turn in range(100):
                try:
                    db.append_message("s0", "user", str(turn))
                except ConnectionLost:
                    db.append_message("s0", "user", str(turn))
            stored = db.message_count("s0")
        print(f"\nwithout keys: {stored - 100} of 100 messages doubled")
        assert stored == 100 + len(answers_get_lost) > 100


INSTALL = """
import sys
from sessiondb.backends.postgres import PostgreSQLProvider
provider = PostgreSQLProvider()
provider.initialize(dsn=sys.argv[1], schema="at_once")
provider.shutdown()
"""


def test_processes_that_install_at_once_all_succeed(own_server: PostgreSQL) -> None:
    command = [sys.executable, "-c", INSTALL, own_server.dsn()]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(timeout=60) for process in processes] == [0] * 4
