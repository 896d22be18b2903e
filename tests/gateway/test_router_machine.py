"""Random messages, redelivery, restarts, crashes and clock jumps: nothing is lost, doubled or misrouted, anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from gateway_helpers import said
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from sessiondb import SessionDB, registry
from sessiondb.gateway import state as states
from sessiondb.gateway.keys import Rules, Source
from sessiondb.gateway.policy import Policies, ResetPolicy
from sessiondb.gateway.router import Router
from sessiondb.gateway.turn import Interrupted, Turn
from sessiondb.models import Filter
from sessiondb.testing import FakeClock
from sessiondb.testing.machine import SETTINGS

CONFIG = settings(SETTINGS, max_examples=12, stateful_step_count=30)
SOURCES = (
    Source("telegram", chat_id="1", user_id="ann"),
    Source("telegram", "group", "-1", user_id="ann"),
    Source("telegram", "group", "-1", user_id="bob"),
    Source("discord", chat_id="1", user_id="ann"),
)
sources = st.sampled_from(SOURCES)
numbers = st.integers(0, 5)
LEASE = 60.0


class RouterMachine(RuleBasedStateMachine):
    open_db: Callable[[FakeClock], SessionDB]

    @initialize(per_user=st.booleans(), when_busy=st.sampled_from(["interrupt", "queue"]))
    def begin(self, per_user: bool, when_busy: str) -> None:
        self.clock = FakeClock()
        self.db = type(self).open_db(self.clock)
        self.options: dict[str, Any] = {
            "rules": Rules(group_sessions_per_user=per_user),
            "policies": Policies(ResetPolicy("both", idle_minutes=60, timezone="Europe/Berlin")),
            "when_busy": when_busy,
            "lease_seconds": LEASE,
            "clock": self.clock,
        }
        self.routers = [Router(self.db, **self.options) for _ in range(2)]
        # Message key -> key of its conversation; what turns appended, with their session; the last turn of each.
        self.delivered: dict[str, str] = {}
        self.appended: dict[str, str] = {}
        self.current: dict[str, int] = {}
        self.turns: list[Turn] = []

    def teardown(self) -> None:
        if hasattr(self, "db"):
            self.nothing_is_lost_doubled_or_misrouted()
            assert self.db.verify().ok
            self.db.close()

    @rule(source=sources, which=st.integers(0, 1), again=st.one_of(st.none(), numbers))
    def receive(self, source: Source, which: int, again: int | None) -> None:
        router = self.routers[which]
        text = router.key(source).text
        known = [key for key, place in self.delivered.items() if place == text]
        key = known[again % len(known)] if again is not None and known else f"m{len(self.delivered)}"
        arrival = router.receive(source, key, message_key=key)
        if key not in self.delivered:
            assert arrival.status in ("started", "queued")
            self.delivered[key] = text
        if arrival.turn is not None:
            self._started(arrival.turn)

    def _started(self, turn: Turn) -> None:
        assert turn.token > self.current.get(turn.key.text, 0), "tokens grow"
        self.current[turn.key.text] = turn.token
        self.turns.append(turn)

    @rule(number=numbers)
    def answer(self, number: int) -> None:
        if not self.turns:
            return
        turn = self.turns[number % len(self.turns)]
        text = f"a{len(self.appended)}"
        try:
            turn.append([said(text)])
        except Interrupted:
            assert not self._may_append(turn)
        else:
            assert self._may_append(turn), "a turn that is over must not append"
            self.appended[text] = turn.session_id

    def _may_append(self, turn: Turn) -> bool:
        lease = turn.router.view(turn.key).state.lease
        return lease is not None and lease.token == turn.token

    @rule(number=numbers)
    def finish(self, number: int) -> None:
        if not self.turns:
            return
        turn = self.turns.pop(number % len(self.turns))
        mine = self._may_append(turn)
        try:
            following = turn.end()
        except Interrupted:
            assert not mine
        else:
            assert mine
            if following is not None:
                self._started(following)

    @rule(seconds=st.sampled_from([1.0, LEASE + 1, 2 * 3600.0, 26 * 3600.0, -7200.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.move(seconds)

    @rule(which=st.integers(0, 1))
    def restart(self, which: int) -> None:
        gone = self.routers[which]
        self.turns = [turn for turn in self.turns if turn.router is not gone]
        self.routers[which] = Router(self.db, **self.options)
        self.routers[which].recover()

    @rule(source=sources, which=st.integers(0, 1))
    def reset(self, source: Source, which: int) -> None:
        assert self.routers[which].reset(source).fresh

    @rule(source=sources)
    def suspend(self, source: Source) -> None:
        self.routers[0].suspend(source)

    @rule(source=sources, number=numbers)
    def go_back(self, source: Source, number: int) -> None:
        found = self.routers[0].scope(source).sessions()
        if found:
            chosen = found[number % len(found)]["id"]
            assert self.routers[0].switch(source, chosen).session_id == chosen

    @rule(source=sources)
    def compress(self, source: Source) -> None:
        self.db.rotate_session(self.routers[0].resolve(source).session_id)

    @invariant()
    def every_conversation_has_its_own_session(self) -> None:
        if not hasattr(self, "routers"):
            return
        bound = [each.active_session_id for each in self.routers[0].bindings() if each.active_session_id]
        assert len(bound) == len(set(bound))

    def nothing_is_lost_doubled_or_misrouted(self) -> None:
        found: Counter[tuple[str, str]] = Counter()
        for session in self.db.list_sessions_rich(limit=10_000, include_children=True, where=Filter()):
            for row in self.db.get_messages(session["id"]):
                if row["role"] == "user" or row["content"] in self.appended:
                    found[row["content"], session["session_key"] if row["role"] == "user" else session["id"]] += 1
        for binding in self.routers[0].bindings():
            for message in states.read(binding.reset_state).waiting:
                found[message["content"], binding.session_key] += 1
        expected = Counter({**dict.fromkeys(self.delivered.items(), 1), **dict.fromkeys(self.appended.items(), 1)})
        assert found <= expected, f"doubled or misrouted: {found - expected}"
        assert found >= expected, f"lost: {expected - found}"


def test_random_events(new_options: tuple[str, Callable[[], dict[str, Any]]]) -> None:
    name, new = new_options

    def open_db(clock: FakeClock) -> SessionDB:
        provider = registry.load("providers", name)()
        provider.initialize(**new())
        return SessionDB(provider=provider, clock=clock)

    machine = type("Routing", (RouterMachine,), {"open_db": staticmethod(open_db)})
    run_state_machine_as_test(machine, settings=CONFIG)
