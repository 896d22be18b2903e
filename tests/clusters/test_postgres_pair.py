"""A primary that dies under load, and a standby that takes over: writers go on by themselves."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cluster_writers import Found, Writers, compare, writers
from scale import scaled  # type: ignore[import-not-found]

from servers.pg_pair import Pair, pair
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.db import SessionDB

pytestmark = pytest.mark.alone
LANES = ("a", "b", "c", "hot 1", "hot 2")
SOME, MORE = scaled(100, 3000), scaled(50, 1500)

Say = Callable[[str], None]


def start_all(running: Writers, pair: Pair) -> None:
    options = {"dsn": pair.dsn, "deadline": 30.0, "pool_size": 2, "max_overflow": 0}
    opened(pair).close()  # makes the tables, before anybody counts
    for lane in LANES:
        running.start(lane, ("postgresql", options), session="hot" if lane.startswith("hot") else None)
    running.wait_for_each(SOME)


def opened(pair: Pair) -> SessionDB:
    provider = PostgreSQLProvider()
    provider.initialize(dsn=pair.dsn)
    return SessionDB(provider=provider)


def fail_over(running: Writers, pair: Pair) -> float:
    """Kill, promote, and let everybody go on; the seconds until the first was heard again."""
    pair.kill_primary()
    killed = time.monotonic()
    pair.standby.promote()
    running.wait_for_each(MORE)
    return running.first_ack_after(killed)


def left(pair: Pair, running: Writers) -> Found:
    """What is there in the end, by a store that adds up."""
    running.end()
    with opened(pair) as db:
        assert db.verify().ok
        return compare(db, running)


def test_with_synchronous_replication_nothing_is_lost(tmp_path: Path, say: Say) -> None:
    with pair(synchronous=True) as cluster, writers(tmp_path) as running:
        start_all(running, cluster)
        recovery = fail_over(running, cluster)
        found = left(cluster, running)
    say(f"PostgreSQL, synchronous: {found}; on after {recovery:.1f} s")
    assert (found.lost, found.doubled, found.out_of_order) == (0, 0, 0)


def test_with_asynchronous_replication_nothing_is_doubled(tmp_path: Path, say: Say) -> None:
    with pair(synchronous=False) as cluster, writers(tmp_path) as running:
        start_all(running, cluster)
        recovery = fail_over(running, cluster)
        found = left(cluster, running)
    say(f"PostgreSQL, asynchronous: {found}; on after {recovery:.1f} s")
    assert found.doubled == 0


def test_when_the_stream_was_cut_asynchronous_replication_loses_and_the_count_shows_it(
    tmp_path: Path, say: Say
) -> None:
    with pair(synchronous=False) as cluster, writers(tmp_path) as running:
        start_all(running, cluster)
        cluster.standby.cut_off()
        running.wait_for_each(5)
        fail_over(running, cluster)
        found = left(cluster, running)
    say(f"PostgreSQL, asynchronous, stream cut before: {found}")
    assert found.lost >= 5 * len(LANES)
    assert found.doubled == 0
