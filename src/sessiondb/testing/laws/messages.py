"""Messages: stored in order, with all they carry, and read in pages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ...db import SessionDB
from ...errors import NotFound
from ...models import MESSAGE_COLUMNS
from ..clock import FakeClock
from .base import LawBase, NewSession, contents, positions, say, stored

CALL = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"cmd": "ls"}'}}


class MessageLaws(LawBase):
    def test_a_message_has_every_column(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "hello")
        assert set(db.get_messages("s")[0]) == set(MESSAGE_COLUMNS)

    def test_an_append_returns_the_id(self, db: SessionDB, session: NewSession) -> None:
        message_id = db.append_message(session(), "user", "hello")
        assert db.get_messages("s")[0]["id"] == message_id

    def test_ids_grow_over_the_store(self, db: SessionDB, session: NewSession) -> None:
        ids = [*say(db, session("a"), "1"), *say(db, session("b"), "2"), *say(db, "a", "3")]
        assert ids == sorted(set(ids))

    def test_positions_count_from_one_in_each_session(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "1", "2")
        say(db, session("b"), "3", "4", "5")
        assert (positions(db, "a"), positions(db, "b")) == ([1, 2], [1, 2, 3])

    def test_a_message_is_stamped_now(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        say(db, session(), "hello")
        assert db.get_messages("s")[0]["timestamp"] == clock.now

    def test_a_timestamp_may_be_given(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "hello", timestamp=1_234.56789)
        assert db.get_messages("s")[0]["timestamp"] == 1_234.56789

    def test_order_does_not_depend_on_the_clock(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        say(db, session(), "first")
        clock.move(-3600)
        say(db, "s", "second")
        assert contents(db, "s") == ["first", "second"]

    def test_a_message_for_an_unknown_session_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="ghost"):
            db.append_message("ghost", "user", "hello")
        assert db.message_count() == 0

    def test_an_unknown_session_has_no_messages(self, db: SessionDB) -> None:
        assert db.get_messages("ghost") == []

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("tool_name", "shell"),
            ("tool_call_id", "c1"),
            ("token_count", 7),
            ("finish_reason", "stop"),
            ("reasoning", "because"),
            ("message_key", "k1"),
            ("provider", "acme"),
            ("model", "m1"),
            ("input_tokens", 3),
            ("output_tokens", 2**40),
            ("content_type", "text/markdown"),
            ("metadata", {"a": [1, {"b": None}]}),
            ("tool_calls", [CALL]),
        ],
    )
    def test_every_field_comes_back(self, db: SessionDB, session: NewSession, name: str, value: Any) -> None:
        db.append_message(session(), "assistant", "hello", **{name: value})
        assert db.get_messages("s")[0][name] == value  # type: ignore[literal-required]

    @pytest.mark.parametrize("name", ["reasoning_details", "codex_reasoning_items"])
    def test_reasoning_items_stay_json_text(self, db: SessionDB, session: NewSession, name: str) -> None:
        db.append_messages(session(), [{"role": "assistant", name: [{"type": "x"}]}])
        assert json.loads(db.get_messages("s")[0][name]) == [{"type": "x"}]  # type: ignore[literal-required]

    @pytest.mark.parametrize(
        ("name", "nothing"),
        [("tool_calls", []), ("reasoning_details", []), ("codex_reasoning_items", []), ("metadata", {})],
    )
    def test_an_empty_structure_is_null(self, db: SessionDB, session: NewSession, name: str, nothing: Any) -> None:
        db.append_messages(session(), [{"role": "assistant", name: nothing}])
        assert db.get_messages("s")[0][name] is None  # type: ignore[literal-required]

    def test_a_message_may_have_no_content(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", tool_calls=[CALL])
        assert contents(db, "s") == [None]

    def test_empty_content_is_not_missing_content(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "")
        assert contents(db, "s") == [""]

    @pytest.mark.parametrize(
        "content", [[{"type": "text", "text": "hi"}], {"parts": [1, 2.5, None, True]}, [], {}, "[1]", '{"a": 1}']
    )
    def test_structured_content_comes_back_equal(self, db: SessionDB, session: NewSession, content: Any) -> None:
        say(db, session(), content)
        assert contents(db, "s") == [content]

    def test_injected_is_kept_and_off_by_default(self, db: SessionDB, session: NewSession) -> None:
        db.append_messages(session(), [{"role": "user", "injected": True}, {"role": "user"}])
        assert [row["injected"] for row in db.get_messages("s")] == [1, 0]

    @pytest.mark.parametrize(
        "role", ["user", "assistant", "system", "tool", "developer", "function", "session_meta", "meta"]
    )
    def test_every_known_role_is_kept(self, db: SessionDB, session: NewSession, role: str) -> None:
        db.append_message(session(), role, "x")
        assert db.get_messages("s")[0]["role"] == role

    def test_a_message_can_be_read_by_id(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "other")
        (message_id,) = say(db, session("b"), "hello")
        assert db.provider.get_message(message_id) == db.get_messages("b")[0]

    def test_messages_are_read_with_facts_of_their_sessions(self, db: SessionDB, session: NewSession) -> None:
        first, second = session("a"), session("b")
        db.set_session_title(first, "caf\u00e9")
        wanted = [db.append_message(each, "user", f"in {each} \ud800") for each in (first, second)]
        found = sorted(db.provider.found_messages([*wanted, wanted[-1] + 1000]), key=lambda pair: pair[0]["id"])
        assert [row for row, _ in found] == [db.provider.get_message(each) for each in wanted]
        assert [(facts["id"], facts["title"]) for _, facts in found] == [("a", "caf\u00e9"), ("b", None)]
        assert set(found[0][1]) >= {"id", "source", "model", "title", "started_at"}

    def test_no_messages_are_read_by_no_ids(self, db: SessionDB) -> None:
        assert db.provider.found_messages([]) == []

    def test_an_unknown_message_is_none(self, db: SessionDB) -> None:
        assert db.provider.get_message(12345) is None

    def test_a_message_handed_out_is_a_copy(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), [{"type": "text", "text": "hi"}])
        db.get_messages("s")[0]["content"].append("changed")
        assert contents(db, "s") == [[{"type": "text", "text": "hi"}]]


class CounterLaws(LawBase):
    def test_messages_are_counted(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "1", "2")
        say(db, session("b"), "3")
        assert (db.message_count("a"), db.message_count("b"), db.message_count()) == (2, 1, 3)

    def test_an_unknown_session_counts_zero(self, db: SessionDB) -> None:
        assert db.message_count("ghost") == 0

    def test_the_session_knows_its_counts(self, db: SessionDB, session: NewSession) -> None:
        (_, last) = say(db, session(), "1", "2")
        row = stored(db, "s")
        assert (row["message_count"], row["last_seq"], row["last_message_id"]) == (2, 2, last)

    def test_tool_calls_are_counted_one_by_one(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", tool_calls=[CALL, {**CALL, "id": "c2"}])
        assert stored(db, "s")["tool_call_count"] == 2

    def test_a_single_call_counts_once(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", tool_calls=CALL)
        assert stored(db, "s")["tool_call_count"] == 1

    def test_a_tool_result_is_no_call(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "tool", "done", tool_name="shell", tool_call_id="c1")
        assert stored(db, "s")["tool_call_count"] == 0

    def test_last_active_is_the_newest_time(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "late", timestamp=200.0)
        db.append_message("s", "user", "early", timestamp=100.0)
        assert stored(db, "s")["last_active"] == 200.0


class PageLaws(LawBase):
    @pytest.fixture
    def talk(self, db: SessionDB, session: NewSession) -> str:
        say(db, session("talk"), *"abcdef")
        return "talk"

    def test_the_first_messages(self, db: SessionDB, talk: str) -> None:
        assert contents(db, talk, limit=2) == ["a", "b"]

    def test_the_messages_after_a_position(self, db: SessionDB, talk: str) -> None:
        assert contents(db, talk, after=2, limit=2) == ["c", "d"]

    def test_the_messages_before_a_position(self, db: SessionDB, talk: str) -> None:
        assert contents(db, talk, before=3) == ["a", "b"]

    def test_the_newest_messages_come_in_order(self, db: SessionDB, talk: str) -> None:
        assert contents(db, talk, limit=2, newest=True) == ["e", "f"]

    def test_the_newest_before_a_position(self, db: SessionDB, talk: str) -> None:
        assert contents(db, talk, before=4, limit=2, newest=True) == ["b", "c"]

    def test_both_ends_can_be_given(self, db: SessionDB, talk: str) -> None:
        assert contents(db, talk, after=1, before=5) == ["b", "c", "d"]

    def test_newest_without_a_limit_is_everything(self, db: SessionDB, talk: str) -> None:
        assert contents(db, talk, newest=True) == list("abcdef")

    @pytest.mark.parametrize("newest", [True, False])
    def test_a_limit_of_zero_gives_nothing(self, db: SessionDB, talk: str, newest: bool) -> None:
        assert contents(db, talk, limit=0, newest=newest) == []

    def test_beyond_the_end_is_nothing(self, db: SessionDB, talk: str) -> None:
        assert contents(db, talk, after=6) == []

    def test_one_by_one_they_are_the_same(self, db: SessionDB, talk: str) -> None:
        assert list(db.iter_messages(talk)) == db.get_messages(talk)

    def test_one_by_one_the_hidden_come_when_asked_for(self, db: SessionDB, talk: str) -> None:
        db.rewind_to_message(talk, db.get_messages(talk)[2]["id"])
        assert [row["content"] for row in db.iter_messages(talk)] == ["a", "b", "c"]
        assert [row["content"] for row in db.iter_messages(talk, include_inactive=True)] == list("abcdef")

    def test_an_unknown_session_has_no_messages_to_go_through(self, db: SessionDB) -> None:
        assert list(db.iter_messages("ghost")) == []

    def test_a_message_with_its_neighbours(self, db: SessionDB, talk: str) -> None:
        third = db.get_messages(talk)[2]["id"]
        assert [row["content"] for row in db.get_messages_around(talk, third, window=1)] == ["b", "c", "d"]

    def test_neighbours_end_where_the_session_ends(self, db: SessionDB, talk: str) -> None:
        first = db.get_messages(talk)[0]["id"]
        assert [row["content"] for row in db.get_messages_around(talk, first, window=2)] == ["a", "b", "c"]

    def test_a_window_of_zero_is_the_message_itself(self, db: SessionDB, talk: str) -> None:
        third = db.get_messages(talk)[2]["id"]
        assert [row["content"] for row in db.get_messages_around(talk, third, window=0)] == ["c"]

    def test_neighbours_are_of_the_same_session(self, db: SessionDB, session: NewSession) -> None:
        first, _, third = (say(db, session(name), name)[0] for name in ("a", "b", "c"))
        say(db, "a", "a2")
        assert [row["content"] for row in db.get_messages_around("a", first)] == ["a", "a2"]
        assert [row["content"] for row in db.get_messages_around("c", third)] == ["c"]

    def test_a_message_of_another_session_is_not_found(self, db: SessionDB, session: NewSession, talk: str) -> None:
        (foreign,) = say(db, session("other"), "x")
        with pytest.raises(NotFound, match=str(foreign)):
            db.get_messages_around(talk, foreign)

    def test_an_unknown_message_is_not_found(self, db: SessionDB, talk: str) -> None:
        with pytest.raises(NotFound, match="98765"):
            db.get_messages_around(talk, 98765)
