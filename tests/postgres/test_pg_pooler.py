"""Behind a transaction pooler: the same laws, on server connections that change from one transaction to the next."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest

from servers.pgbouncer import PgBouncer
from servers.postgres import schemas, server
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.db import SessionDB
from sessiondb.errors import Unavailable
from sessiondb.testing import Laws
from sessiondb.testing.laws import GROUPS

# What differs behind a pooler is the connection, not the row: laws that write, read back, search and meet each other.
CHOSEN = {
    "AppendLaws", "BatchLaws", "KeyLaws", "ExpectationLaws", "MessageLaws", "ReplaceLaws", "RotationLaws", "TitleLaws",
    "DeleteLaws", "RestoreLaws", "WordLaws", "TextLaws", "LedgerLaws", "HealthLaws", "ThreadLaws",
}  # fmt: skip
WRITERS, MESSAGES = 8, 60


@cache
def pooler() -> PgBouncer:
    return PgBouncer(server())


def behind(options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "dsn": pooler().dsn("laws"), "prepare_threshold": None}


class TestBehindPgBouncer(Laws):
    provider = PostgreSQLProvider

    @pytest.fixture
    def new_store(self) -> Iterator[Callable[[], dict[str, Any]]]:
        with schemas.lent() as lent:
            yield lambda: behind(lent.options())


for group in GROUPS:
    if group.__name__ not in CHOSEN:
        setattr(TestBehindPgBouncer, f"Test{group.__name__}", None)


def test_more_writers_than_connections_lose_and_double_nothing(options: dict[str, Any]) -> None:
    provider = PostgreSQLProvider()
    provider.initialize(**behind(options) | {"deadline": 30.0})
    with SessionDB(provider=provider) as db:
        db.create_session("s", "cli")
        done = threading.Event()

        def write(writer: int) -> None:
            for number in range(MESSAGES):
                db.append_message("s", "user", f"{writer}-{number}", message_key=f"{writer}-{number}")

        def disturb() -> int:
            times = 0
            while not done.wait(0.1):
                server().execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    f" WHERE datname = 'laws' AND query LIKE '%{options['schema']}%' AND pid <> pg_backend_pid()"
                )
                times += 1
            return times

        with ThreadPoolExecutor(WRITERS + 1) as threads:
            disturbing = threads.submit(disturb)
            try:
                list(threads.map(write, range(WRITERS)))
            finally:
                done.set()
            times = disturbing.result()
        stored = Counter(str(row["content"]) for row in db.get_messages("s"))
        print(f"\nbehind PgBouncer, connections ended {times} times: {len(stored)} messages, {stored.total()} rows")
        assert (len(stored), stored.total(), db.verify().ok) == (WRITERS * MESSAGES, WRITERS * MESSAGES, True)


def test_without_the_setting_the_pooler_s_refusal_is_told(options: dict[str, Any]) -> None:
    provider = PostgreSQLProvider()
    with pytest.raises(Unavailable, match=r"options.*prepare_threshold"):
        provider.initialize(**behind(options) | {"prepare_threshold": 5})
