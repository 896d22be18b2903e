"""Lists and searches on a standby: what this handle wrote is always there, and a standby that lags is not asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from servers.pg_pair import Pair, execute, pair, query, wait_for
from sessiondb.backends.postgres import PostgreSQLProvider, replica
from sessiondb.backends.postgres.index import parts
from sessiondb.db import SessionDB

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def cluster() -> Iterator[Pair]:
    with pair(synchronous=False) as made:
        yield made


@pytest.fixture
def db(cluster: Pair) -> Iterator[SessionDB]:
    provider = PostgreSQLProvider()
    provider.initialize(dsn=cluster.dsn, read_dsn=cluster.standby_dsn, deadline=10.0)
    with SessionDB(provider=provider) as opened:
        yield opened


def reads(db: SessionDB) -> tuple[int, int]:
    facts = db.health()
    return facts["replica_reads"], facts["replica_fallbacks"]


def caught_up(cluster: Pair) -> None:
    position = query(cluster.primary.port, "SELECT CAST(pg_current_wal_lsn() AS TEXT)")
    sql = f"SELECT CAST(pg_last_wal_replay_lsn() >= '{position}' AS INTEGER)"
    wait_for(lambda: query(cluster.standby.port, sql) == 1, "the standby to catch up")


def test_lists_and_searches_are_read_on_the_standby(db: SessionDB, cluster: Pair) -> None:
    db.create_session("a", "cli")
    db.append_message("a", "user", "a needle")
    # Asks for the position that is waited for; later ones may be the server's own, such as autovacuum's.
    db.list_sessions_rich()
    caught_up(cluster)
    before = reads(db)
    assert [row["id"] for row in db.list_sessions_rich()] == ["a"]
    assert [hit["session_id"] for hit in db.search_messages("needle")] == ["a"]
    after = reads(db)
    assert after[0] >= before[0] + 2
    assert after[1] == before[1]


def test_what_was_just_written_is_found_though_the_standby_lags(db: SessionDB, cluster: Pair) -> None:
    db.ensure_session("b", "cli")
    caught_up(cluster)
    execute(cluster.standby.port, "SELECT pg_wal_replay_pause()")
    try:
        db.append_message("b", "user", "a thimble")
        db.set_session_title("b", "fresh title")
        before = reads(db)
        assert [hit["session_id"] for hit in db.search_messages("thimble")] == ["b"]
        assert "fresh title" in [row["title"] for row in db.list_sessions_rich()]
        after = reads(db)
        assert after[0] == before[0]
        assert after[1] > before[1]
    finally:
        execute(cluster.standby.port, "SELECT pg_wal_replay_resume()")
    caught_up(cluster)
    before = reads(db)
    assert [hit["session_id"] for hit in db.search_messages("thimble")] == ["b"]
    assert reads(db)[0] > before[0]


def test_without_the_look_at_the_log_a_lagging_standby_would_hide_it(
    db: SessionDB, cluster: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.ensure_session("c", "cli")
    caught_up(cluster)
    execute(cluster.standby.port, "SELECT pg_wal_replay_pause()")
    try:
        db.append_message("c", "user", "a bodkin")
        monkeypatch.setattr(replica.Routed, "_has_seen_our_writes", lambda self: True)
        assert db.search_messages("bodkin") == []
        monkeypatch.undo()
        assert len(db.search_messages("bodkin")) == 1
    finally:
        execute(cluster.standby.port, "SELECT pg_wal_replay_resume()")


def test_a_search_that_takes_too_long_says_nothing_about_the_standby(
    db: SessionDB, cluster: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.ensure_session("e", "cli")
    db.append_message("e", "user", "a spindle")
    db.list_sessions_rich()
    caught_up(cluster)
    monkeypatch.setattr(parts, "condition", lambda *_: (("(SELECT TRUE FROM pg_sleep(5))",), {}))
    monkeypatch.setattr(parts, "_share", lambda *_: 0.0)
    assert db.search_messages("absent", mode="substring", deadline=0.3).notices
    before = reads(db)
    db.list_sessions_rich()
    assert reads(db)[0] == before[0] + 1
    assert db.health()["replica_problem"] is None


def test_a_standby_that_is_gone_costs_one_wait_and_is_told_once(
    db: SessionDB, cluster: Pair, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    db.ensure_session("d", "cli")
    cluster.standby.process.stop()
    asked = []
    look = replica.Routed._has_seen_our_writes
    monkeypatch.setattr(replica.Routed, "_has_seen_our_writes", lambda self: asked.append(1) or look(self))
    for _ in range(5):
        assert "d" in [row["id"] for row in db.list_sessions_rich()]
    assert len(asked) == 1
    health = db.health()
    assert health["replica_lag"] is None
    (told,) = [each.getMessage() for each in caplog.records if "read_dsn" in each.getMessage()]
    assert health["replica_problem"] in told
