"""Clocks jump by hours and years, go backwards, stand still: order is by position, and nothing is destroyed by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.testing import FakeClock

HOUR, DAY, YEAR = 3600.0, 86_400.0, 365 * 86_400.0
JUMPS = {
    "an hour back": -HOUR,
    "a day back": -DAY,
    "ten years back": -10 * YEAR,
    "frozen": 0.0,
    "an hour on": HOUR,
    "ten years on": 10 * YEAR,
}
MESSAGES = 20


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def db(fast_path: Path, clock: FakeClock) -> Iterator[SessionDB]:
    with SessionDB(fast_path / "state.db", clock=clock) as opened:
        yield opened


@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
class TestOrder:
    def test_messages_keep_theirs(self, db: SessionDB, clock: FakeClock, jump: float) -> None:
        db.create_session("a", "cli")
        for number in range(MESSAGES):
            db.append_message("a", "user", str(number))
            clock.move(jump if number % 3 else -jump / 2)
        assert [row["content"] for row in db.get_messages("a")] == [str(number) for number in range(MESSAGES)]
        assert [row["content"] for row in db.get_messages("a", limit=2, newest=True)] == ["18", "19"]
        assert db.verify().problems == []

    def test_the_last_to_speak_is_listed_first(self, db: SessionDB, clock: FakeClock, jump: float) -> None:
        for name in "abc":
            db.create_session(name, "cli")
        for name in "abcacb":
            db.append_message(name, "user", "hello")
            clock.move(jump)
        listed = [row["id"] for row in db.list_sessions_rich(order_by="activity")]
        assert listed == ["b", "c", "a"]

    def test_a_continuation_is_found(self, db: SessionDB, clock: FakeClock, jump: float) -> None:
        db.create_session("a", "cli")
        db.append_message("a", "user", "hello")
        clock.move(jump)
        following = db.rotate_session("a")
        db.append_message(following, "user", "go on")
        assert db.get_compression_tip("a") == following
        assert db.resolve_resume_session_id(following) == following

    def test_new_ids_differ(self, db: SessionDB, clock: FakeClock, jump: float) -> None:
        db.create_session("a", "cli")
        forks = []
        for _ in range(50):
            forks.append(db.fork_session("a"))
            clock.move(jump)
            clock.move(-jump)
        assert len(set(forks)) == 50


def test_ordered_by_the_clock_messages_would_be_jumbled(db: SessionDB, clock: FakeClock) -> None:
    """What other stores do: the same conversation, read back by timestamp."""
    db.create_session("a", "cli")
    for number in range(3):
        db.append_message("a", "user", str(number))
        clock.move(-HOUR)
    by_clock = sorted(db.get_messages("a"), key=lambda row: row["timestamp"])
    assert [row["content"] for row in by_clock] == ["2", "1", "0"]


class TestRetention:
    @pytest.fixture
    def ended(self, db: SessionDB, clock: FakeClock) -> SessionDB:
        """A session of a hundred days ago, a new one, and one that is still open."""
        clock.move(-100 * DAY)
        for name in ("old", "open"):
            db.create_session(name, "cli")
            db.append_message(name, "user", "hello")
        db.end_session("old", "done")
        clock.move(100 * DAY)
        db.create_session("new", "cli")
        db.end_session("new", "done")
        return db

    @pytest.mark.parametrize("jump", [-HOUR, -DAY, -9 * DAY, 0.0, HOUR, DAY])
    def test_small_jumps_change_nothing(self, ended: SessionDB, clock: FakeClock, jump: float) -> None:
        clock.move(jump)
        assert ended.prune_sessions(90) == 1
        assert [row["id"] for row in ended.list_trash()] == ["old"]

    def test_a_clock_that_went_back_years_destroys_nothing(self, ended: SessionDB, clock: FakeClock) -> None:
        ended.delete_session("old")
        clock.move(-10 * YEAR)
        assert ended.prune_sessions(90) == 0
        assert ended.empty_trash(30) == 0
        assert ended.restore_deleted("old") == "old"

    def test_after_a_jump_on_by_years_everything_can_be_taken_back(self, ended: SessionDB, clock: FakeClock) -> None:
        clock.move(10 * YEAR)
        assert ended.prune_sessions(90) == 2
        clock.move(-10 * YEAR)
        assert ended.empty_trash(30) == 0
        for name in ("old", "new"):
            assert ended.restore_deleted(name) == name
        assert ended.get_messages("old")[0]["content"] == "hello"
        assert ended.verify().problems == []

    def test_an_open_session_is_never_pruned(self, ended: SessionDB, clock: FakeClock) -> None:
        clock.move(10 * YEAR)
        ended.prune_sessions(0)
        assert ended.get_session("open") is not None

    def test_a_session_of_the_future_stays(self, ended: SessionDB, clock: FakeClock) -> None:
        clock.move(YEAR)
        ended.create_session("future", "cli")
        ended.end_session("future", "done")
        clock.move(-YEAR)
        ended.prune_sessions(0)
        assert ended.get_session("future") is not None

    def test_a_session_deleted_in_the_future_stays_in_the_trash(self, ended: SessionDB, clock: FakeClock) -> None:
        clock.move(YEAR)
        ended.delete_session("old")
        clock.move(-YEAR)
        assert ended.empty_trash(0) == 0
