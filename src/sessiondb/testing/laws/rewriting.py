"""Replacing, clearing, rewinding, forking: positions go on, nothing is used twice."""

from __future__ import annotations

import pytest

from ...db import SessionDB
from ...errors import AlreadyExists, Invalid, NotFound
from .base import LawBase, NewSession, contents, positions, say, stored, titled
from .messages import CALL


class ReplaceLaws(LawBase):
    def test_new_messages_take_the_place_of_all(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a", "b", "c")
        db.replace_messages("s", [{"role": "user", "content": "summary"}])
        assert contents(db, "s", include_inactive=True) == ["summary"]

    def test_positions_go_on_after_a_replacement(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a", "b")
        db.replace_messages("s", [{"role": "user", "content": "c"}])
        assert positions(db, "s") == [3]

    def test_counts_follow_the_new_messages(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", tool_calls=[CALL])
        db.replace_messages("s", [{"role": "user", "content": text} for text in "ab"])
        row = stored(db, "s")
        assert (row["message_count"], row["tool_call_count"], row["last_seq"]) == (2, 0, 3)
        assert db.get_tool_calls("s") == []

    def test_last_active_follows_the_new_messages(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "late", timestamp=200.0)
        db.replace_messages("s", [{"role": "user", "content": "early", "timestamp": 100.0}])
        assert stored(db, "s")["last_active"] == 100.0

    def test_a_replacement_keeps_the_ledger_true(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a", "b")
        db.replace_messages("s", [{"role": "user", "content": "c"}])
        assert db.verify().ok

    def test_a_bad_message_leaves_the_old_ones(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a")
        with pytest.raises(Invalid):
            db.replace_messages("s", [{"role": "user", "content": "b"}, {"role": "wizard"}])
        assert contents(db, "s") == ["a"]

    def test_a_replacement_by_nothing_empties(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a")
        assert db.replace_messages("s", []) == []
        assert (contents(db, "s"), stored(db, "s")["message_count"], db.verify().ok) == ([], 0, True)

    def test_keys_of_the_old_messages_are_free(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "a", message_key="k")
        db.replace_messages("s", [{"role": "user", "content": "b", "message_key": "k"}])
        assert contents(db, "s") == ["b"]

    def test_a_key_given_twice_replaces_once(self, db: SessionDB, session: NewSession) -> None:
        first, again = db.replace_messages(session(), [{"role": "user", "content": "b", "message_key": "k"}] * 2)
        assert (first, contents(db, "s"), stored(db, "s")["message_count"]) == (again, ["b"], 1)

    def test_an_unknown_session_is_not_replaced(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="ghost"):
            db.replace_messages("ghost", [{"role": "user", "content": "x"}])

    def test_other_sessions_keep_their_messages(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "a")
        say(db, session("b"), "b")
        db.replace_messages("a", [])
        assert contents(db, "b") == ["b"]


class ClearLaws(LawBase):
    def test_clearing_removes_messages_and_counts(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", "a", tool_calls=[CALL], media_refs=[{"kind": "image", "path": "x"}])
        db.clear_messages("s")
        row = stored(db, "s")
        assert (row["message_count"], row["tool_call_count"], row["ledger"]) == (0, 0, 0)
        assert (db.get_messages("s"), db.get_tool_calls("s"), db.get_media_refs("s")) == ([], [], [])

    def test_clearing_keeps_tokens_costs_and_title(self, db: SessionDB) -> None:
        db.update_token_counts(titled(db, "s", "deploy"), 5, estimated_cost_usd=0.5)
        say(db, "s", "a")
        db.clear_messages("s")
        row = stored(db, "s")
        assert (row["input_tokens"], row["estimated_cost_usd"], row["title"]) == (5, 0.5, "deploy")

    def test_clearing_an_unknown_session_is_ignored(self, db: SessionDB) -> None:
        db.clear_messages("ghost")
        assert db.get_session("ghost") is None

    def test_a_cleared_session_was_last_active_at_its_start(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(started_at=50.0), "user", "a", timestamp=100.0)
        db.clear_messages("s")
        assert db.list_sessions_rich()[0]["last_active"] == 50.0


class RewindLaws(LawBase):
    def test_rewinding_hides_what_came_after(self, db: SessionDB, session: NewSession) -> None:
        _, second, _, _ = say(db, session(), *"abcd")
        assert db.rewind_to_message("s", second) == 2
        assert contents(db, "s") == ["a", "b"]

    def test_hidden_messages_are_still_there(self, db: SessionDB, session: NewSession) -> None:
        first, _ = say(db, session(), *"ab")
        db.rewind_to_message("s", first)
        rows = db.get_messages("s", include_inactive=True)
        assert [(row["content"], row["active"]) for row in rows] == [("a", 1), ("b", 0)]

    def test_hidden_messages_are_not_counted(self, db: SessionDB, session: NewSession) -> None:
        first = db.append_message(session(), "user", "a")
        db.append_message("s", "assistant", tool_calls=[CALL])
        db.rewind_to_message("s", first)
        row = stored(db, "s")
        assert (row["message_count"], row["tool_call_count"], db.message_count()) == (1, 0, 1)

    def test_a_conversation_goes_on_after_a_rewind(self, db: SessionDB, session: NewSession) -> None:
        first, _ = say(db, session(), *"ab")
        db.rewind_to_message("s", first)
        say(db, "s", "c")
        assert (contents(db, "s"), positions(db, "s")) == (["a", "c"], [1, 3])

    def test_a_rewind_can_be_taken_back(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "a")
        db.append_message("s", "assistant", "b", tool_calls=[CALL])
        before = stored(db, "s")
        db.rewind_to_message("s", db.get_messages("s")[0]["id"])
        assert db.restore_rewound("s") == 1
        assert stored(db, "s") == before

    def test_rewinding_twice_counts_only_what_changed(self, db: SessionDB, session: NewSession) -> None:
        first, second, _ = say(db, session(), *"abc")
        assert (db.rewind_to_message("s", second), db.rewind_to_message("s", first)) == (1, 1)

    def test_the_last_message_hides_nothing(self, db: SessionDB, session: NewSession) -> None:
        *_, last = say(db, session(), *"ab")
        assert db.rewind_to_message("s", last) == 0

    def test_the_ledger_counts_hidden_messages(self, db: SessionDB, session: NewSession) -> None:
        first, _ = say(db, session(), *"ab")
        before = stored(db, "s")["ledger"]
        db.rewind_to_message("s", first)
        assert (stored(db, "s")["ledger"], db.verify().ok) == (before, True)

    def test_a_message_of_another_session_is_no_place_to_rewind_to(self, db: SessionDB, session: NewSession) -> None:
        (foreign,) = say(db, session("other"), "x")
        say(db, session("s"), *"ab")
        with pytest.raises(NotFound):
            db.rewind_to_message("s", foreign)
        assert contents(db, "s") == ["a", "b"]

    def test_nothing_is_restored_for_an_unknown_session(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="ghost"):
            db.restore_rewound("ghost")


class ForkLaws(LawBase):
    def test_a_fork_has_the_same_conversation(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), *"abc")
        assert contents(db, db.fork_session("s")) == ["a", "b", "c"]

    def test_a_fork_may_end_at_a_message(self, db: SessionDB, session: NewSession) -> None:
        _, second, _ = say(db, session(), *"abc")
        assert contents(db, db.fork_session("s", at_message=second)) == ["a", "b"]

    def test_the_original_stays_as_it_was(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), *"abc")
        before = stored(db, "s")
        say(db, db.fork_session("s"), "d")
        assert (contents(db, "s"), stored(db, "s")) == (["a", "b", "c"], before)

    def test_a_fork_is_a_child(self, db: SessionDB, session: NewSession) -> None:
        row = stored(db, db.fork_session(session(), new_id="f"))
        assert (row["id"], row["parent_session_id"], row["relation"]) == ("f", "s", "fork")

    def test_a_fork_takes_over_the_setting(self, db: SessionDB, session: NewSession) -> None:
        session(model="m", system_prompt="be brief", cwd="/a", metadata={"a": 1})
        row = stored(db, db.fork_session("s"))
        assert (row["source"], row["model"], row["system_prompt"], row["cwd"]) == ("cli", "m", "be brief", "/a")
        assert row["metadata"] == {"a": 1}

    def test_a_fork_has_its_own_title_tokens_and_costs(self, db: SessionDB) -> None:
        db.update_token_counts(titled(db, "s", "deploy"), 5, estimated_cost_usd=0.5)
        row = stored(db, db.fork_session("s"))
        assert (row["title"], row["input_tokens"], row["estimated_cost_usd"]) == (None, 0, None)

    def test_a_fork_stays_in_the_chat_unless_its_source_is_another(self, db: SessionDB, session: NewSession) -> None:
        session(session_key="agent:main:telegram:dm:1")
        assert stored(db, db.fork_session("s"))["session_key"] == "agent:main:telegram:dm:1"
        assert stored(db, db.fork_session("s", source="web"))["session_key"] is None

    def test_a_fork_may_have_another_source(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, db.fork_session(session(), source="web"))["source"] == "web"

    def test_hidden_messages_are_not_forked(self, db: SessionDB, session: NewSession) -> None:
        first, _ = say(db, session(), *"ab")
        db.rewind_to_message("s", first)
        assert contents(db, db.fork_session("s"), include_inactive=True) == ["a"]

    def test_a_fork_counts_from_one_and_keeps_its_ledger(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a")
        db.replace_messages("s", [{"role": "user", "content": text} for text in "bc"])
        assert positions(db, db.fork_session("s")) == [1, 2]
        assert db.verify().ok

    def test_tool_calls_and_media_are_forked(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", tool_calls=[CALL], media_refs=[{"kind": "image", "path": "x.png"}])
        fork = db.fork_session("s")
        assert [call["tool_name"] for call in db.get_tool_calls(fork)] == ["shell"]
        assert [ref["path"] for ref in db.get_media_refs(fork)] == ["x.png"]

    def test_a_taken_id_is_refused(self, db: SessionDB, session: NewSession) -> None:
        session("taken")
        with pytest.raises(AlreadyExists, match="taken"):
            db.fork_session(session(), new_id="taken")

    def test_an_unknown_session_cannot_be_forked(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="ghost"):
            db.fork_session("ghost")

    def test_a_fork_at_a_foreign_message_is_refused(self, db: SessionDB, session: NewSession) -> None:
        (foreign,) = say(db, session("other"), "x")
        with pytest.raises(NotFound):
            db.fork_session(session(), at_message=foreign)
        assert db.session_count() == 2
