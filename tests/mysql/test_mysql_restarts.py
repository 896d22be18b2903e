"""The server is killed and restarted, connections too, answers are lost: no message is lost or doubled."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pymysql
import pytest

from servers import mariadb
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.backends.mysql.connection import WRITE, Connection
from sessiondb.db import SessionDB
from sessiondb.errors import ConnectionLost

pytestmark = pytest.mark.alone

LONG = os.environ.get("SESSIONDB_TORTURE") == "1"
APPENDS = 20_000 if LONG else 3_000
WRITERS = 5
# Of so many commits one happens without its answer arriving.
LOST_ANSWERS = 100


@pytest.fixture(scope="module")
def server() -> Iterator[mariadb.MariaDB]:
    with mariadb.private(durable=True) as started:
        yield started


@pytest.fixture
def db(server: mariadb.MariaDB, request: pytest.FixtureRequest) -> Iterator[SessionDB]:
    name = f"restart_{abs(hash(request.node.name))}"
    with pymysql.connect(**server.options()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    provider = MySQLProvider()
    provider.initialize(**server.options(database=name, deadline=60.0))
    with SessionDB(provider=provider) as opened:
        yield opened


@contextmanager
def answers_get_lost(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    commit, chance = Connection.commit, random.Random(1)

    def sometimes_lost(self: Connection) -> None:
        commit(self)
        if self.isolation == WRITE and chance.randrange(LOST_ANSWERS) == 0:
            raise pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query")

    with monkeypatch.context() as patched:
        patched.setattr(Connection, "commit", sometimes_lost)
        yield


class Disturber(threading.Thread):
    """Kills connections all the time, and the server twice (in the long form ten times)."""

    def __init__(self, server: mariadb.MariaDB) -> None:
        super().__init__()
        self.server = server
        self.done = threading.Event()
        self.kills = self.restarts = 0

    def run(self) -> None:
        until_restart = 0.5
        while not self.done.wait(0.05):
            until_restart -= 0.05
            if until_restart <= 0 and self.restarts < (10 if LONG else 2):
                self.server.restart(signal.SIGKILL)
                self.restarts += 1
                until_restart = 1.0
            else:
                self._kill_one()

    def _kill_one(self) -> None:
        with pymysql.connect(**self.server.options()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT id FROM information_schema.processlist WHERE db LIKE 'restart%'")
            found = [row[0] for row in cursor.fetchall()]
            if found:
                try:
                    cursor.execute(f"KILL {random.choice(found)}")
                    self.kills += 1
                except pymysql.err.OperationalError as exc:
                    # "Unknown thread id": it ended by itself meanwhile.
                    if exc.args[0] != 1094:
                        raise


def append_all(db: SessionDB, writer: int, *, keyed: bool) -> int:
    """Append a writer's share, again after a lost connection; returns how often that was needed."""
    again = 0
    for number in range(APPENDS // WRITERS):
        text = f"{writer}-{number}"
        while True:
            try:
                db.append_message(f"s{writer % 3}", "user", text, message_key=text if keyed else None)
                break
            except ConnectionLost:
                again += 1
    return again


def disturbed(db: SessionDB, server: mariadb.MariaDB, monkeypatch: pytest.MonkeyPatch, *, keyed: bool) -> Counter[str]:
    """How often each message is there after all writers are done."""
    for number in range(3):
        db.create_session(f"s{number}", "cli")
    disturber = Disturber(server)
    started = time.monotonic()
    with answers_get_lost(monkeypatch):
        disturber.start()
        try:
            with ThreadPoolExecutor(WRITERS) as threads:
                again = sum(threads.map(lambda writer: append_all(db, writer, keyed=keyed), range(WRITERS)))
        finally:
            disturber.done.set()
            disturber.join()
    stored = Counter(str(row["content"]) for number in range(3) for row in db.get_messages(f"s{number}"))
    print(
        f"\n{'with' if keyed else 'without'} keys: {APPENDS} appends in {time.monotonic() - started:.1f} s, "
        f"{disturber.kills} connections killed, {disturber.restarts} server kills, "
        f"{db.health()['retries']} retries inside, {again} by the caller: "
        f"{APPENDS - len(stored)} lost, {sum(stored.values()) - len(stored)} doubled"
    )
    assert disturber.restarts > 0
    return stored


def test_with_keys_nothing_is_lost_doubled_or_out_of_order(
    db: SessionDB, server: mariadb.MariaDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = disturbed(db, server, monkeypatch, keyed=True)
    assert (len(stored), set(stored.values())) == (APPENDS, {1})
    assert db.verify().ok
    for writer in range(WRITERS):
        texts = [str(row["content"]) for row in db.get_messages(f"s{writer % 3}")]
        mine = [int(text.split("-")[1]) for text in texts if text.startswith(f"{writer}-")]
        assert mine == sorted(mine)


def test_without_keys_callers_who_try_again_double_messages(
    db: SessionDB, server: mariadb.MariaDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = disturbed(db, server, monkeypatch, keyed=False)
    assert len(stored) == APPENDS
    assert max(stored.values()) > 1
