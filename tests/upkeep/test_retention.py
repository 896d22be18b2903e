"""Retention: by source, to the trash, never what is open or pinned, and nothing that nobody asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sessiondb import retention, upkeep
from sessiondb.db import SessionDB
from sessiondb.errors import Invalid, NotSupported

DAY = 86_400.0
NOW = 1_750_000_000.0


@pytest.fixture
def db() -> Iterator[SessionDB]:
    with SessionDB("memory://", clock=lambda: NOW) as opened:
        for source in ("cron", "telegram", "cli"):
            for days in (10, 40, 100):
                name = f"{source}-{days}"
                opened.create_session(name, source, started_at=NOW - days * DAY)
                opened.end_session(name, "done")
        yield opened


RULES = {"cron": "30d", "telegram": "12w"}


def test_what_is_due_is_told_by_source(db: SessionDB) -> None:
    due = retention.due(db, RULES)
    assert {each.source: sorted(row["id"] for row in each.sessions) for each in due} == {
        "cron": ["cron-100", "cron-40"],
        "telegram": ["telegram-100"],
    }
    assert len(db.list_trash()) == 0


def test_it_goes_to_the_trash(db: SessionDB) -> None:
    assert retention.apply(db, RULES) == 3
    assert sorted(row["id"] for row in db.list_trash()) == ["cron-100", "cron-40", "telegram-100"]
    assert db.restore_deleted("cron-40") == "cron-40"


def test_open_and_pinned_sessions_stay(db: SessionDB) -> None:
    db.reopen_session("cron-100")
    db.pin_session("cron-40")
    assert retention.apply(db, RULES) == 1


def test_a_bad_rule_is_refused_before_anything_goes(db: SessionDB) -> None:
    for rule in ("soon", "", "-1d", 0, -3, True):
        with pytest.raises(Invalid):
            retention.apply(db, {"cron": "30d", "cli": rule})
    assert db.list_trash() == []


def test_durations_have_a_unit() -> None:
    assert [upkeep.seconds(text) for text in ("90s", "30m", "24h", "1.5d", "2w")] == [90, 1800, 86400, 129600, 1209600]


def test_a_store_on_a_server_is_looked_after_there() -> None:
    with pytest.raises(NotSupported, match="memory"):
        upkeep.of("memory")
