"""One conversation, one session, one turn; what happens around resets, redelivery and processes that die."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest
from gateway_helpers import ANN, BOB, ROOM, said, texts

from sessiondb import Invalid, NotFound, SessionDB
from sessiondb.gateway.keys import Rules, Source
from sessiondb.gateway.policy import Policies, ResetPolicy
from sessiondb.gateway.router import Router
from sessiondb.gateway.turn import Interrupted
from sessiondb.testing import FakeClock

IDLE = Policies(ResetPolicy("idle", idle_minutes=60))
HOUR = 3600.0


class TestResolve:
    def test_a_conversation_keeps_its_session(self, everywhere: SessionDB, clock: FakeClock) -> None:
        first = Router(everywhere, clock=clock).resolve(ANN)
        again = Router(everywhere, clock=clock).resolve(ANN)
        assert (first.fresh, again.fresh, again.session_id) == (True, False, first.session_id)

    def test_people_and_chats_are_apart(self, router) -> None:
        sources = [ANN, BOB, ROOM, Source("discord", chat_id="1", user_id="ann")]
        assert len({router().resolve(each).session_id for each in sources}) == 4

    def test_a_session_says_where_it_belongs(self, db: SessionDB, router) -> None:
        row = db.get_session(
            router().resolve(Source("telegram", "group", "-1", "9", "ann", chat_name="Ops")).session_id
        )
        assert row is not None
        assert (row["source"], row["user_id"], row["chat_id"], row["thread_id"], row["chat_type"]) == (
            "telegram", "ann", "-1", "9", "group",
        )  # fmt: skip
        assert (row["session_key"], row["display_name"]) == ("agent:main:telegram:group:-1:9:ann", "Ops")

    def test_of_many_at_once_all_get_the_same(self, everywhere: SessionDB, clock: FakeClock) -> None:
        barrier, found = Barrier(4), set()

        def resolve() -> None:
            router = Router(everywhere, clock=clock)
            barrier.wait()
            found.add(router.resolve(ANN).session_id)

        threads = [Thread(target=resolve) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 1
        assert everywhere.session_count() == 1

    def test_a_deleted_session_is_replaced(self, db: SessionDB, router) -> None:
        first = router().resolve(ANN).session_id
        db.delete_session(first)
        assert router().resolve(ANN).session_id != first

    def test_a_compressed_session_goes_on_in_its_continuation(self, db: SessionDB, router) -> None:
        child = db.rotate_session(router().resolve(ANN).session_id)
        assert router().resolve(ANN).session_id == child

    def test_a_session_that_somebody_ended_is_not_gone_on_with(self, db: SessionDB, router) -> None:
        first = router().resolve(ANN).session_id
        db.end_session(first, "user_exit")
        route = router().resolve(ANN)
        assert route.session_id != first
        assert route.notice is not None
        assert (route.notice.reason, db.get_session(first)["end_reason"]) == ("ended", "user_exit")


class TestStrangeSources:
    @pytest.mark.parametrize(
        "source",
        [
            Source("a platform nobody knows", "a kind of chat nobody knows", "c:%\x00\ud800", "t", "u"),
            Source("telegram", chat_id=42, user_id=7, chat_name=5),  # type: ignore[arg-type]
            Source("telegram", "group", "'; DROP TABLE sessions; --", user_id='"', chat_name="\x1b]0;owned\x07"),
            Source("matrix", "channel", "!room:example.org", user_id="@ann:example.org"),
        ],
    )
    def test_they_are_routed_everywhere(self, everywhere: SessionDB, clock: FakeClock, source: Source) -> None:
        router = Router(everywhere, clock=clock)
        arrival = router.receive(source, "a\x00b \ud800", message_key="1")
        arrival.turn.end([said("ok")])
        assert router.receive(source, "again").session_id == arrival.session_id
        assert texts(everywhere, arrival.session_id) == ["a\x00b \ud800", "ok", "again"]
        assert [row["id"] for row in router.scope(source).sessions()] == [arrival.session_id]

    @pytest.mark.parametrize("source", [Source(""), Source("telegram"), Source("telegram", "group"), Source(None)])  # type: ignore[arg-type]
    def test_what_has_no_place_is_refused(self, db: SessionDB, router, source: Source) -> None:
        for call in (router().resolve, router().scope, router().reset, router().suspend):
            with pytest.raises(Invalid):
                call(source)
        assert db.session_count() == 0


class TestTurns:
    def test_a_turn_stores_question_and_answer(self, everywhere: SessionDB, clock: FakeClock) -> None:
        arrival = Router(everywhere, clock=clock).receive(ANN, "hello", message_key="1")
        assert arrival.turn is not None
        with arrival.turn as turn:
            turn.append([said("hi"), said("there")])
        assert texts(everywhere, arrival.session_id) == ["hello", "hi", "there"]
        assert everywhere.verify().ok

    def test_a_message_delivered_twice_is_stored_once(self, everywhere: SessionDB, clock: FakeClock) -> None:
        router = Router(everywhere, clock=clock)
        first = router.receive(ANN, "hello", message_key="1")
        assert (first.status, router.receive(ANN, "hello", message_key="1").status) == ("started", "duplicate")
        first.turn.end()
        assert router.receive(ANN, "hello", message_key="1").status == "duplicate"
        assert texts(everywhere, first.session_id) == ["hello"]

    def test_a_message_delivered_again_after_a_reset_is_known(self, router) -> None:
        router().receive(ANN, "hello", message_key="1").turn.end()
        router().reset(ANN)
        assert router().receive(ANN, "hello", message_key="1").status == "duplicate"

    def test_a_new_message_interrupts(self, everywhere: SessionDB, clock: FakeClock) -> None:
        router = Router(everywhere, clock=clock)
        first, second = router.receive(ANN, "one"), router.receive(ANN, "two")
        with pytest.raises(Interrupted, match="is over"):
            first.turn.append([said("late")])
        second.turn.append([said("two!")])
        assert texts(everywhere, first.session_id) == ["one", "[interrupted: new message]", "two", "two!"]
        record = everywhere.get_messages(first.session_id)[1]
        assert (record["finish_reason"], record["role"], record["injected"]) == ("interrupted", "assistant", 1)

    def test_an_answer_stored_with_the_end_is_given_once(self, everywhere: SessionDB, clock: FakeClock) -> None:
        router = Router(everywhere, clock=clock, lease_seconds=60)
        first = router.receive(ANN, "one", message_key="1")
        with first.turn as turn:
            turn.end([said("one!")])
        clock.move(61)
        assert router.receive(ANN, "one", message_key="1").status == "duplicate"
        assert texts(everywhere, first.session_id) == ["one", "one!"]

    def test_last_words_come_before_what_waited(self, db: SessionDB, router) -> None:
        queue = router(when_busy="queue")
        first = queue.receive(ANN, "one")
        queue.receive(ANN, "two")
        following = first.turn.end([said("one!")])
        following.append([said("two!")])
        assert texts(db, first.session_id) == ["one", "one!", "two", "two!"]

    def test_an_interrupted_turn_can_neither_end_nor_renew(self, router) -> None:
        first = router().receive(ANN, "one")
        router().receive(ANN, "two")
        for call in (first.turn.end, first.turn.renew):
            with pytest.raises(Interrupted):
                call()

    def test_a_new_message_waits_when_it_shall(self, everywhere: SessionDB, clock: FakeClock) -> None:
        router = Router(everywhere, clock=clock, when_busy="queue")
        first = router.receive(ANN, "one")
        assert [router.receive(ANN, text, message_key=text).status for text in ("two", "three", "two")] == [
            "queued", "queued", "duplicate",
        ]  # fmt: skip
        first.turn.append([said("one!")])
        following = first.turn.end()
        assert following is not None
        following.append([said("both!")])
        assert following.end() is None
        assert texts(everywhere, first.session_id) == ["one", "one!", "two", "three", "both!"]

    @pytest.mark.parametrize("when_busy", ["interrupt", "queue"])
    def test_pictures_go_into_files_even_while_they_wait(self, db: SessionDB, router, when_busy: str) -> None:
        data = "iVBORw0KGgo" + "A" * 2000
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}="}}
        busy = router(when_busy=when_busy)
        first = busy.receive(ANN, "one")
        busy.receive(ANN, {"content": [picture, {"type": "text", "text": "look"}]})
        assert data not in busy.view(busy.key(ANN)).binding.reset_state
        if when_busy == "queue":
            first.turn.end()
        assert [ref["mime_type"] for ref in db.get_media_refs(first.session_id)] == ["image/png"]
        assert data not in str(db.get_messages(first.session_id))

    def test_in_a_shared_room_nobody_interrupts_another(self, db: SessionDB, router) -> None:
        room = router(rules=Rules(group_sessions_per_user=False))
        ann, bob = (Source("telegram", "group", "-1", user_id=user) for user in ("ann", "bob"))
        first = room.receive(ann, "one")
        assert room.receive(bob, "two").status == "queued"
        assert room.receive(ann, "three").status == "started"
        senders = [
            row["metadata"]["sender"]["user_id"] for row in db.get_messages(first.session_id) if row["role"] == "user"
        ]
        assert senders == ["ann", "bob", "ann"]

    def test_another_user_of_a_group_has_a_turn_of_their_own(self, router) -> None:
        ann, bob = (Source("telegram", "group", "-1", user_id=user) for user in ("ann", "bob"))
        first = router().receive(ann, "one")
        assert router().receive(bob, "two").status == "started"
        first.turn.append([said("one!")])

    def test_others_may_append_to_the_session_of_a_turn(self, db: SessionDB, router) -> None:
        arrival = router().receive(ANN, "one")
        db.append_message(arrival.session_id, "user", "from a tool")
        arrival.turn.append([said("one!")])
        assert texts(db, arrival.session_id) == ["one", "from a tool", "one!"]

    def test_an_exception_is_stored_as_an_interruption(self, db: SessionDB, router) -> None:
        arrival = router().receive(ANN, "one")
        with pytest.raises(ZeroDivisionError), arrival.turn:
            raise ZeroDivisionError
        assert texts(db, arrival.session_id) == ["one", "[interrupted: failed]"]
        assert router().receive(ANN, "two").turn is not None

    def test_a_reset_interrupts(self, db: SessionDB, router) -> None:
        arrival = router().receive(ANN, "one")
        router().reset(ANN)
        with pytest.raises(Interrupted):
            arrival.turn.append([said("late")])
        assert texts(db, arrival.session_id) == ["one", "[interrupted: reset]"]

    def test_a_deleted_session_ends_its_turn(self, db: SessionDB, router) -> None:
        arrival = router().receive(ANN, "one")
        db.delete_session(arrival.session_id)
        with pytest.raises(Interrupted):
            arrival.turn.append([said("late")])

    def test_a_compressed_turn_goes_on(self, db: SessionDB, router) -> None:
        turn = router().receive(ANN, "one").turn
        child = turn.rotate()
        turn.append([said("one!")])
        turn.end()
        assert (texts(db, child), router().resolve(ANN).session_id) == (["one!"], child)

    @pytest.mark.parametrize("message", [{"role": "nobody"}, {"content": 5}, {"unknown": 1}])
    def test_a_bad_message_is_refused_before_anything_happens(self, db: SessionDB, router, message) -> None:
        with pytest.raises(Invalid):
            router().receive(ANN, message)
        assert db.session_count() == 0


class TestLease:
    def test_a_turn_that_outlived_its_lease_is_taken_over(self, everywhere: SessionDB, clock: FakeClock) -> None:
        one, other = (Router(everywhere, clock=clock, lease_seconds=60, when_busy="queue") for _ in range(2))
        first = one.receive(ANN, "one")
        clock.move(61)
        second = other.receive(ANN, "two")
        with pytest.raises(Interrupted):
            first.turn.append([said("late")])
        second.turn.append([said("two!")])
        assert texts(everywhere, first.session_id) == ["one", "[interrupted: stopped]", "two", "two!"]

    def test_nobody_takes_over_what_nobody_asks_for(self, db: SessionDB, router, clock: FakeClock) -> None:
        arrival = router(lease_seconds=60).receive(ANN, "one")
        clock.move(600)
        arrival.turn.append([said("slow")])
        assert texts(db, arrival.session_id) == ["one", "slow"]

    def test_a_working_turn_renews_its_lease(self, router, clock: FakeClock) -> None:
        busy = router(lease_seconds=60, when_busy="queue")
        arrival = busy.receive(ANN, "one")
        for _ in range(5):
            clock.move(40)
            arrival.turn.append([said("working")])
        assert busy.receive(ANN, "two").status == "queued"

    def test_a_turn_of_a_process_that_is_gone_is_over_at_once(self, db: SessionDB, router) -> None:
        dead = router(when_busy="queue")
        dead.holder = dead.holder.replace(str(__import__("os").getpid()), "999999999")
        first = dead.receive(ANN, "one")
        second = router(when_busy="queue").receive(ANN, "two")
        assert second.status == "started"
        assert texts(db, first.session_id) == ["one", "[interrupted: stopped]", "two"]

    def test_what_waited_behind_a_dead_turn_is_answered(self, db: SessionDB, router, clock: FakeClock) -> None:
        queue = router(lease_seconds=60, when_busy="queue")
        first = queue.receive(ANN, "one")
        queue.receive(ANN, "two")
        clock.move(61)
        assert queue.receive(ANN, "three").status == "started"
        assert texts(db, first.session_id) == ["one", "[interrupted: stopped]", "two", "three"]

    def test_a_message_whose_turn_died_is_answered_when_it_comes_again(self, db: SessionDB, router, clock) -> None:
        first = router(lease_seconds=60).receive(ANN, "one", message_key="1")
        clock.move(61)
        again = router().receive(ANN, "one", message_key="1")
        assert (again.status, again.session_id) == ("started", first.session_id)
        again.turn.append([said("one!")])
        assert texts(db, first.session_id) == ["one", "[interrupted: stopped]", "one!"]

    def test_after_a_restart_dead_turns_are_found_and_taken_up(self, db: SessionDB, router, clock) -> None:
        first = router(lease_seconds=60, policies=IDLE).receive(ANN, "one", message_key="1")
        clock.move(100 * HOUR)
        restarted = router(policies=IDLE)
        assert restarted.recover() == [restarted.key(ANN).text]
        assert restarted.recover() == []
        assert restarted.resolve(ANN).session_id == first.session_id
        turn = restarted.take_up(restarted.key(ANN))
        turn.append([said("sorry, here I am")])
        assert turn.end() is None
        assert restarted.take_up(restarted.key(ANN)) is None
        assert texts(db, first.session_id) == ["one", "[interrupted: stopped]", "sorry, here I am"]


class TestResets:
    def test_after_a_quiet_hour_a_new_session_begins(self, everywhere: SessionDB, clock: FakeClock) -> None:
        router = Router(everywhere, clock=clock, policies=IDLE)
        first = router.receive(ANN, "one")
        first.turn.end()
        clock.move(2 * HOUR)
        second = router.receive(ANN, "two")
        old, new = (everywhere.get_session(each.session_id) for each in (first, second))
        assert (old["end_reason"], new["parent_session_id"], new["relation"]) == ("session_reset", old["id"], "reset")
        assert new["metadata"] == {"reset": {"reason": "idle", "previous": old["id"]}}
        assert (second.notice.reason, second.notice.previous, second.tell) == ("idle", old["id"], True)

    def test_the_person_is_told_once(self, router, clock: FakeClock) -> None:
        idle = router(policies=IDLE)
        idle.receive(ANN, "one").turn.end()
        clock.move(2 * HOUR)
        assert idle.resolve(ANN).notice is not None
        told = idle.receive(ANN, "two")
        told.turn.end()
        assert (told.tell, idle.receive(ANN, "three").notice) == (True, None)

    def test_by_default_nothing_is_ever_reset(self, router, clock: FakeClock) -> None:
        first = router().resolve(ANN).session_id
        clock.move(10_000 * HOUR)
        assert router().resolve(ANN).session_id == first

    def test_a_running_turn_is_not_reset(self, router, clock: FakeClock) -> None:
        idle = router(policies=IDLE, lease_seconds=10 * HOUR)
        first = idle.receive(ANN, "one")
        clock.move(2 * HOUR)
        assert idle.resolve(ANN).session_id == first.session_id

    def test_work_in_the_background_protects(self, router, clock: FakeClock) -> None:
        busy = {"agent:main:telegram:dm:1"}
        idle = router(policies=IDLE, is_busy=busy.__contains__)
        first = idle.resolve(ANN).session_id
        clock.move(2 * HOUR)
        assert idle.resolve(ANN).session_id == first
        busy.clear()
        assert idle.resolve(ANN).session_id != first

    def test_a_suspended_session_ends_with_the_next_message(self, router) -> None:
        first = router().resolve(ANN).session_id
        router().suspend(ANN)
        arrival = router().receive(ANN, "x")
        assert (arrival.session_id != first, arrival.notice.reason) == (True, "suspended")
        assert router().resolve(ANN).session_id == arrival.session_id

    def test_a_session_to_be_resumed_outlives_its_time(self, router, clock: FakeClock) -> None:
        idle = router(policies=IDLE)
        first = idle.resolve(ANN).session_id
        idle.resume_later(ANN)
        clock.move(2 * HOUR)
        arrival = idle.receive(ANN, "x")
        assert arrival.session_id == first
        arrival.turn.end()
        clock.move(2 * HOUR)
        assert idle.resolve(ANN).session_id != first

    def test_a_clock_set_back_resets_nothing(self, router, clock: FakeClock) -> None:
        idle = router(policies=IDLE)
        first = idle.resolve(ANN).session_id
        clock.move(-100 * HOUR)
        assert idle.resolve(ANN).session_id == first


class TestSavingFirst:
    def test_the_agent_has_its_turn_before_a_reset(self, db: SessionDB, router, clock: FakeClock) -> None:
        asked = []
        idle = router(policies=IDLE, before_reset=lambda session_id, reason: asked.append((session_id, reason)))
        first = idle.resolve(ANN).session_id
        clock.move(2 * HOUR)
        idle.resolve(ANN)
        assert asked == [(first, "idle")]

    def test_a_hook_that_fails_is_asked_three_times(self, router, clock: FakeClock) -> None:
        asked = []

        def fails(session_id: str, reason: str) -> None:
            asked.append(session_id)
            raise OSError

        idle = router(policies=IDLE, before_reset=fails)
        first = idle.resolve(ANN).session_id
        clock.move(2 * HOUR)
        assert idle.resolve(ANN).session_id != first
        assert asked == [first] * 3

    def test_a_restart_does_not_repeat_it(self, router, clock: FakeClock) -> None:
        asked = []
        idle = router(policies=IDLE, before_reset=lambda *each: asked.append(each))
        idle.resolve(ANN)
        clock.move(2 * HOUR)
        idle.save_first(idle.view(idle.key(ANN)), "idle")
        again = router(policies=IDLE, before_reset=lambda *each: asked.append(each))
        again.resolve(ANN)
        assert len(asked) == 1


class TestSwitch:
    def test_an_earlier_session_is_gone_on_with(self, everywhere: SessionDB, clock: FakeClock) -> None:
        router = Router(everywhere, clock=clock)
        first = router.receive(ANN, "one")
        first.turn.end()
        second = router.reset(ANN).session_id
        assert router.switch(ANN, first.session_id).session_id == first.session_id
        assert everywhere.get_session(second)["end_reason"] == "session_switch"
        assert everywhere.get_session(first.session_id)["ended_at"] is None
        arrival = router.receive(ANN, "two")
        assert [each["content"] for each in arrival.turn.history()] == ["one", "two"]

    def test_sessions_of_others_are_not_there(self, router) -> None:
        of_bob = router().resolve(BOB).session_id
        with pytest.raises(NotFound) as of_others:
            router().switch(ANN, of_bob)
        with pytest.raises(NotFound) as of_nobody:
            router().switch(ANN, "ghost")
        assert str(of_others.value).replace(of_bob, "ghost") == str(of_nobody.value)

    def test_a_session_taken_to_another_chat_leaves_the_first(self, db: SessionDB, router) -> None:
        everything = router(visibility="user")
        other = Source("telegram", chat_id="2", user_id="ann")
        first = everything.receive(ANN, "one")
        everything.switch(other, first.session_id)
        with pytest.raises(Interrupted):
            first.turn.append([said("late")])
        assert everything.resolve(ANN).session_id != first.session_id
        assert everything.resolve(other).session_id == first.session_id
