"""While nobody writes: sessions end when their time is over, once, after the agent had its turn."""

from __future__ import annotations

from threading import Event

import pytest
from gateway_helpers import ANN, BOB, texts

from sessiondb import SessionDB
from sessiondb.gateway.keys import Source
from sessiondb.gateway.policy import Policies, ResetPolicy
from sessiondb.gateway.router import Router
from sessiondb.gateway.watcher import Watcher
from sessiondb.testing import FakeClock

IDLE = Policies(ResetPolicy("idle", idle_minutes=60), by_platform={"discord": {"mode": "none"}})
HOUR = 3600.0


def test_quiet_sessions_end_and_others_go_on(everywhere: SessionDB, clock: FakeClock) -> None:
    router = Router(everywhere, clock=clock, policies=IDLE)
    router.receive(ANN, "one").turn.end()
    discord = router.resolve(Source("discord", chat_id="1", user_id="ann")).session_id
    clock.move(2 * HOUR)
    bob = router.resolve(BOB).session_id
    first = router.resolve(BOB).session_id
    assert Watcher(router).look() == [router.key(ANN).text]
    assert Watcher(router).look() == []
    ended = [row["id"] for row in everywhere.list_sessions_rich() if row["ended_at"] is not None]
    assert (len(ended), everywhere.get_session(ended[0])["end_reason"]) == (1, "session_reset")
    assert (bob, discord) == (first, router.resolve(Source("discord", chat_id="1", user_id="ann")).session_id)


def test_the_next_message_begins_anew_and_hears_why_once(db: SessionDB, router, clock: FakeClock) -> None:
    idle = router(policies=IDLE)
    first = idle.receive(ANN, "one")
    first.turn.end()
    clock.move(2 * HOUR)
    Watcher(idle).look()
    second = idle.receive(ANN, "two")
    assert (second.notice.reason, second.notice.previous, second.tell) == ("idle", first.session_id, True)
    row = db.get_session(second.session_id)
    assert (row["parent_session_id"], row["relation"], row["metadata"]["reset"]["reason"]) == (
        first.session_id, "reset", "idle",
    )  # fmt: skip
    second.turn.end()
    assert idle.receive(ANN, "three").notice is None


def test_an_ended_session_that_was_deleted_leaves_no_parent(db: SessionDB, router, clock: FakeClock) -> None:
    idle = router(policies=IDLE)
    first = idle.resolve(ANN).session_id
    clock.move(2 * HOUR)
    Watcher(idle).look()
    db.delete_session(first)
    assert db.get_session(idle.resolve(ANN).session_id)["parent_session_id"] is None


def test_the_agent_has_its_turn_first(router, clock: FakeClock) -> None:
    asked = []
    idle = router(policies=IDLE, before_reset=lambda session_id, reason: asked.append((session_id, reason)))
    first = idle.resolve(ANN).session_id
    clock.move(2 * HOUR)
    for _ in range(2):
        Watcher(idle).look()
    assert asked == [(first, "idle")]


def test_a_failing_hook_is_asked_three_times_over_restarts(db: SessionDB, router, clock: FakeClock) -> None:
    asked = []

    def fails(session_id: str, reason: str) -> None:
        asked.append(session_id)
        if len(asked) == 1:
            raise KeyboardInterrupt
        raise OSError

    lease = 300.0

    first = router(policies=IDLE).resolve(ANN).session_id
    clock.move(2 * HOUR)
    with pytest.raises(KeyboardInterrupt):
        Watcher(router(policies=IDLE, before_reset=fails)).look()
    assert db.get_session(first)["ended_at"] is None
    clock.move(lease + 1)
    Watcher(router(policies=IDLE, before_reset=fails)).look()
    assert (len(asked), db.get_session(first)["end_reason"]) == (3, "session_reset")


def test_what_the_hook_says_does_not_keep_the_session(db: SessionDB, router, clock: FakeClock) -> None:
    idle = router(policies=IDLE, before_reset=lambda session_id, reason: db.append_message(session_id, "user", "saved"))
    first = idle.resolve(ANN).session_id
    clock.move(2 * HOUR)
    Watcher(idle).look()
    assert (db.get_session(first)["end_reason"], texts(db, first)) == ("session_reset", ["saved"])


def test_turns_of_dead_processes_are_stored_as_interrupted(db: SessionDB, router, clock: FakeClock) -> None:
    arrival = router(lease_seconds=60).receive(ANN, "one")
    clock.move(61)
    Watcher(router()).look()
    assert texts(db, arrival.session_id) == ["one", "[interrupted: stopped]"]


def test_the_thread_looks_until_it_is_stopped(router, clock: FakeClock) -> None:
    seen = Event()
    idle = router(policies=IDLE, before_reset=lambda *each: seen.set())
    idle.resolve(ANN)
    clock.move(2 * HOUR)
    with Watcher(idle, interval=0.01, delay=0.0) as watcher:
        assert seen.wait(30)
    watcher.stop()
    assert idle.resolve(ANN).fresh


def test_two_watchers_save_once(router, clock: FakeClock) -> None:
    asked = []
    other = Watcher(router(policies=IDLE, before_reset=lambda *each: asked.append("other")))

    def saves(session_id: str, reason: str) -> None:
        asked.append("one")
        assert other.look() == []

    idle = router(policies=IDLE, before_reset=saves)
    idle.resolve(ANN)
    clock.move(2 * HOUR)
    assert Watcher(idle).look() == [idle.key(ANN).text]
    assert asked == ["one"]
