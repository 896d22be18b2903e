"""Bindings change by a swap: whoever comes second learns it, and what belongs to the change happens with it or not."""

from __future__ import annotations

from dataclasses import replace
from threading import Barrier, Thread
from typing import Any

import pytest

from ...bindings import Binding, Handover
from ...db import SessionDB
from ...drafts import draft
from ...errors import AlreadyExists, NotFound, NotSupported
from ...models import Draft
from ..requires import requires
from .base import LawBase, NewSession, contents, stored

FIRST = Binding("k", "telegram", "dm", "1", None, "ann", None, '{"rev":1}', 1.0, 1.0)
NEXT = replace(FIRST, reset_state='{"rev":2}', updated_at=2.0)


def words(*texts: str) -> list[Draft]:
    return [draft({"role": "user", "content": text}, 1.0, 1000) for text in texts]


def columns(session_id: str, **fields: Any) -> dict[str, Any]:
    return {"id": session_id, "source": "telegram", "started_at": 5.0, **fields}


class BindingLaws(LawBase):
    @requires("bindings")
    def test_a_binding_is_read_back(self, db: SessionDB) -> None:
        strange = replace(FIRST, session_key="k:\ud800", chat_id="a\x00b", metadata='{"name":"漢字"}')
        assert db.provider.get_binding(strange.session_key) is None
        assert db.provider.swap_binding(None, strange) == 0
        assert db.provider.get_binding(strange.session_key) == strange

    @requires("bindings")
    def test_the_second_to_begin_does_nothing(self, db: SessionDB) -> None:
        db.provider.swap_binding(None, FIRST)
        assert db.provider.swap_binding(None, NEXT) is None
        assert db.provider.get_binding("k") == FIRST

    @requires("bindings")
    def test_only_who_knows_the_last_state_may_change_it(self, db: SessionDB) -> None:
        db.provider.swap_binding(None, FIRST)
        assert db.provider.swap_binding(FIRST, NEXT) == 0
        assert db.provider.swap_binding(FIRST, replace(FIRST, reset_state='{"rev":3}')) is None
        assert db.provider.get_binding("k") == NEXT

    @requires("bindings")
    def test_what_is_not_there_cannot_be_changed(self, db: SessionDB) -> None:
        assert db.provider.swap_binding(FIRST, NEXT) is None
        assert db.provider.get_binding("k") is None

    @requires("bindings")
    def test_bindings_are_listed_by_key_in_pages(self, db: SessionDB) -> None:
        for key in ("b", "a:2", "A", "a"):
            db.provider.swap_binding(None, replace(FIRST, session_key=key))
        assert [each.session_key for each in db.provider.list_bindings()] == ["A", "a", "a:2", "b"]
        assert [each.session_key for each in db.provider.list_bindings(after="a", limit=1)] == ["a:2"]

    @requires("bindings")
    def test_a_binding_is_dropped_by_who_knows_it(self, db: SessionDB) -> None:
        db.provider.swap_binding(None, NEXT)
        assert (db.provider.drop_binding(FIRST), db.provider.drop_binding(NEXT)) == (False, True)
        assert (db.provider.get_binding("k"), db.provider.drop_binding(NEXT)) == (None, False)

    @requires("bindings")
    def test_of_many_who_begin_at_once_one_succeeds(self, db: SessionDB) -> None:
        barrier, answers = Barrier(4), []

        def begin(name: str) -> None:
            barrier.wait()
            binding = replace(FIRST, active_session_id=name, reset_state=f'{{"by":"{name}"}}')
            handover = Handover(create=columns(name), messages=words(name))
            answers.append(db.provider.swap_binding(None, binding, handover))

        threads = [Thread(target=begin, args=(f"s{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        bound = db.provider.get_binding("k")
        assert bound is not None
        assert sorted(map(str, answers)) == ["1", "None", "None", "None"]
        assert [row["id"] for row in db.search_sessions()] == [bound.active_session_id]

    def test_known_message_keys_are_found(self, db: SessionDB, session: NewSession) -> None:
        for name in ("s", "t"):
            db.append_message(session(name), "user", "a", message_key=f"k-{name}")
        assert db.provider.find_keys(["s", "ghost"], ["k-s", "k-t", "k-u"]) == {"k-s": "s"}
        assert db.provider.find_keys(["s", "t"], ["k-s", "k-t"]) == {"k-s": "s", "k-t": "t"}
        assert (db.provider.find_keys([], ["k-s"]), db.provider.find_keys(["s"], [])) == ({}, {})


class HandoverLaws(LawBase):
    @requires("bindings")
    def test_a_session_begins_with_its_binding(self, db: SessionDB) -> None:
        bound = replace(FIRST, active_session_id="s")
        handover = Handover(create=columns("s", session_key="k"), messages=words("needle", "b"))
        assert db.provider.swap_binding(None, bound, handover) == 2
        assert contents(db, "s") == ["needle", "b"]
        assert [hit["session_id"] for hit in db.search_messages("needle")] == ["s"]
        assert db.verify().ok

    @requires("bindings")
    def test_one_session_ends_and_another_begins(self, db: SessionDB) -> None:
        first = replace(FIRST, active_session_id="old")
        db.provider.swap_binding(None, first, Handover(create=columns("old"), messages=words("a")))
        handover = Handover(
            left=("old", words("interrupted")),
            end=("old", "session_reset", 9.0),
            create=columns("new", parent_session_id="old"),
            messages=words("b"),
        )
        assert db.provider.swap_binding(first, replace(NEXT, active_session_id="new"), handover) == 1
        old, new = stored(db, "old"), stored(db, "new")
        assert (old["end_reason"], old["ended_at"], new["relation"]) == ("session_reset", 9.0, "reset")
        assert (contents(db, "old"), contents(db, "new")) == (["a", "interrupted"], ["b"])
        assert db.verify().ok

    @requires("bindings")
    def test_the_first_end_counts(self, db: SessionDB, session: NewSession) -> None:
        db.end_session(session(), "user_exit")
        db.provider.swap_binding(None, FIRST, Handover(end=("s", "session_reset", 9.0)))
        assert stored(db, "s")["end_reason"] == "user_exit"

    @requires("bindings")
    def test_an_ended_session_is_taken_up_again(self, db: SessionDB, session: NewSession) -> None:
        db.end_session(session(), "user_exit")
        db.provider.swap_binding(None, replace(FIRST, active_session_id="s"), Handover(reopen="s"))
        row = stored(db, "s")
        assert (row["ended_at"], row["end_reason"], row["session_key"]) == (None, None, "k")

    @requires("bindings")
    def test_who_comes_second_leaves_no_trace(self, db: SessionDB) -> None:
        first = replace(FIRST, active_session_id="s")
        db.provider.swap_binding(None, first, Handover(create=columns("s"), messages=words("a")))
        late = Handover(left=("s", words("late")), end=("s", "late", 9.0), create=columns("t"), messages=words("late"))
        assert db.provider.swap_binding(None, replace(NEXT, active_session_id="t"), late) is None
        assert (contents(db, "s"), stored(db, "s")["ended_at"], db.get_session("t")) == (["a"], None, None)

    @requires("bindings")
    @pytest.mark.parametrize(
        ("handover", "active", "error"),
        [
            (Handover(left=("ghost", words("a")), create=columns("t")), "t", NotFound),
            (Handover(reopen="ghost", end=("s", "x", 9.0)), "ghost", NotFound),
            (Handover(messages=words("a"), end=("s", "x", 9.0)), "ghost", NotFound),
            (Handover(create=columns("s"), left=("s", words("a"))), "s", AlreadyExists),
        ],
    )
    def test_a_handover_that_fails_leaves_no_trace(
        self, db: SessionDB, session: NewSession, handover: Handover, active: str, error: type[Exception]
    ) -> None:
        session()
        with pytest.raises(error):
            db.provider.swap_binding(None, replace(FIRST, active_session_id=active), handover)
        assert (db.provider.get_binding("k"), db.session_count(), contents(db, "s")) == (None, 1, [])
        assert stored(db, "s")["ended_at"] is None

    @requires("bindings")
    def test_a_known_message_key_is_not_stored_again(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "a", message_key="k1")
        again = [draft({"role": "user", "content": "a", "message_key": "k1"}, 1.0, 1000)]
        bound = replace(FIRST, active_session_id="s")
        assert db.provider.swap_binding(None, bound, Handover(messages=again)) == 1
        assert contents(db, "s") == ["a"]


class NoBindingLaws(LawBase):
    @requires(not_="bindings")
    def test_a_provider_without_bindings_says_so(self, db: SessionDB) -> None:
        with pytest.raises(NotSupported, match="gateway"):
            db.provider.get_binding("k")
        with pytest.raises(NotSupported, match="gateway"):
            db.provider.swap_binding(None, FIRST)
