"""Sessions: begin, end, change, find by id."""

from __future__ import annotations

import json

import pytest

from ...db import SessionDB
from ...errors import Invalid, NotFound
from ...models import SESSION_COLUMNS, TOKEN_COLUMNS
from ..clock import FakeClock
from .base import LawBase, NewSession, say, stored


class SessionLaws(LawBase):
    def test_create_session_returns_the_id(self, db: SessionDB) -> None:
        assert db.create_session("s", "cli") == "s"

    def test_a_session_has_every_column(self, db: SessionDB, session: NewSession) -> None:
        assert set(stored(db, session())) == set(SESSION_COLUMNS)

    def test_a_session_starts_now(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        assert stored(db, session())["started_at"] == clock.now

    def test_a_start_may_be_given(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, session(started_at=12.5))["started_at"] == 12.5

    def test_a_new_session_is_open(self, db: SessionDB, session: NewSession) -> None:
        row = stored(db, session())
        assert (row["ended_at"], row["end_reason"]) == (None, None)

    def test_a_new_session_counts_nothing(self, db: SessionDB, session: NewSession) -> None:
        row = stored(db, session())
        assert [row[name] for name in ("message_count", "tool_call_count", "last_seq", "ledger")] == [0] * 4
        assert [row[name] for name in TOKEN_COLUMNS] == [0] * 5  # type: ignore[literal-required]

    def test_a_new_session_has_unknown_costs(self, db: SessionDB, session: NewSession) -> None:
        row = stored(db, session())
        assert (row["estimated_cost_usd"], row["actual_cost_usd"]) == (None, None)

    def test_a_session_without_parent_is_a_root(self, db: SessionDB, session: NewSession) -> None:
        row = stored(db, session())
        assert (row["parent_session_id"], row["relation"]) == (None, "root")

    def test_the_seed_fields_are_kept(self, db: SessionDB) -> None:
        db.create_session("s", "telegram", "m1", {"temperature": 0.5}, "be brief", "u1")
        row = stored(db, "s")
        assert (row["source"], row["model"], row["system_prompt"], row["user_id"]) == (
            "telegram",
            "m1",
            "be brief",
            "u1",
        )

    @pytest.mark.parametrize(
        "name",
        [
            "session_key",
            "chat_id",
            "chat_type",
            "thread_id",
            "display_name",
            "origin",
            "native_id",
            "cwd",
            "git_branch",
        ],
    )
    def test_further_fields_are_kept(self, db: SessionDB, session: NewSession, name: str) -> None:
        assert stored(db, session(**{name: "x é 漢"}))[name] == "x é 漢"  # type: ignore[literal-required]

    def test_model_config_comes_back_as_json_text(self, db: SessionDB, session: NewSession) -> None:
        text = stored(db, session(model_config={"temperature": 0.5}))["model_config"]
        assert json.loads(text or "") == {"temperature": 0.5}

    def test_model_config_may_be_given_as_text(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, session(model_config='{"a":  1}'))["model_config"] == '{"a":  1}'

    def test_metadata_comes_back_decoded(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, session(metadata={"a": [1, None]}))["metadata"] == {"a": [1, None]}

    def test_the_first_write_wins(self, db: SessionDB, session: NewSession) -> None:
        session("s", "cli", model="m1")
        db.create_session("s", "telegram", model="m2")
        assert (stored(db, "s")["source"], stored(db, "s")["model"]) == ("cli", "m1")

    def test_creating_again_keeps_the_messages(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("s"), "hello")
        db.create_session("s", "cli")
        assert stored(db, "s")["message_count"] == 1

    def test_an_empty_parent_is_none(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, session(parent_session_id=""))["parent_session_id"] is None

    def test_a_parent_is_kept(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, session("b", parent_session_id=session("a")))["parent_session_id"] == "a"

    def test_an_unknown_parent_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="ghost"):
            db.create_session("s", "cli", parent_session_id="ghost")
        assert db.get_session("s") is None

    def test_ensure_session_creates_with_an_unknown_source(self, db: SessionDB) -> None:
        db.ensure_session("s")
        assert stored(db, "s")["source"] == "unknown"

    def test_ensure_session_leaves_an_existing_one_alone(self, db: SessionDB, session: NewSession) -> None:
        db.ensure_session(session("s", "cli"), "other", "m")
        assert (stored(db, "s")["source"], stored(db, "s")["model"]) == ("cli", None)

    def test_an_unknown_session_is_none(self, db: SessionDB) -> None:
        assert db.get_session("ghost") is None

    def test_a_row_handed_out_is_a_copy(self, db: SessionDB, session: NewSession) -> None:
        row = stored(db, session(metadata={"a": 1}))
        row["source"] = "changed"
        (row["metadata"] or {})["a"] = 2
        assert (stored(db, "s")["source"], stored(db, "s")["metadata"]) == ("cli", {"a": 1})

    def test_ids_differ_by_case(self, db: SessionDB, session: NewSession) -> None:
        session("abc", "cli")
        session("ABC", "telegram")
        assert stored(db, "abc")["source"] == "cli"

    def test_ids_differ_by_a_trailing_blank(self, db: SessionDB, session: NewSession) -> None:
        session("a", "cli")
        session("a ", "telegram")
        assert stored(db, "a")["source"] == "cli"

    @pytest.mark.parametrize(
        "name", ["agent:main:dm:1", "it's", '"', "a%b_c", "漢字", "\N{PILE OF POO}", "a\x00b", "\ud800"]
    )
    def test_any_text_may_be_an_id(self, db: SessionDB, name: str) -> None:
        db.create_session(name, "cli")
        assert stored(db, name)["id"] == name

    def test_an_id_of_255_characters_is_kept(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, session("漢" * 255))["id"] == "漢" * 255


class EndLaws(LawBase):
    def test_the_end_has_time_and_reason(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        session()
        db.end_session("s", "user_exit")
        assert (stored(db, "s")["ended_at"], stored(db, "s")["end_reason"]) == (clock.now, "user_exit")

    def test_the_first_end_wins(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        session()
        db.end_session("s", "user_exit")
        first = clock.now
        clock.move(60)
        db.end_session("s", "timeout")
        assert (stored(db, "s")["ended_at"], stored(db, "s")["end_reason"]) == (first, "user_exit")

    def test_ending_an_unknown_session_is_ignored(self, db: SessionDB) -> None:
        db.end_session("ghost", "timeout")
        assert db.get_session("ghost") is None

    def test_reopening_takes_the_end_back(self, db: SessionDB, session: NewSession) -> None:
        db.end_session(session(), "user_exit")
        db.reopen_session("s")
        assert (stored(db, "s")["ended_at"], stored(db, "s")["end_reason"]) == (None, None)

    def test_a_reopened_session_ends_anew(self, db: SessionDB, session: NewSession) -> None:
        db.end_session(session(), "user_exit")
        db.reopen_session("s")
        db.end_session("s", "timeout")
        assert stored(db, "s")["end_reason"] == "timeout"

    def test_reopening_an_unknown_session_is_ignored(self, db: SessionDB) -> None:
        db.reopen_session("ghost")
        assert db.get_session("ghost") is None

    def test_an_ended_session_takes_messages(self, db: SessionDB, session: NewSession) -> None:
        db.end_session(session(), "user_exit")
        say(db, "s", "one more thing")
        assert stored(db, "s")["message_count"] == 1


class ChangeLaws(LawBase):
    def test_the_system_prompt_is_replaced(self, db: SessionDB, session: NewSession) -> None:
        db.update_system_prompt(session(system_prompt="old"), "new")
        assert stored(db, "s")["system_prompt"] == "new"

    def test_a_system_prompt_for_an_unknown_session_is_ignored(self, db: SessionDB) -> None:
        db.update_system_prompt("ghost", "new")
        assert db.get_session("ghost") is None

    def test_descriptive_fields_can_change(self, db: SessionDB, session: NewSession) -> None:
        db.update_session(session(cwd="/a", git_branch="main"), cwd="/b", display_name="Ann")
        row = stored(db, "s")
        assert (row["cwd"], row["git_branch"], row["display_name"]) == ("/b", "main", "Ann")

    def test_metadata_is_replaced_as_a_whole(self, db: SessionDB, session: NewSession) -> None:
        db.update_session(session(metadata={"a": 1}), metadata={"b": 2})
        assert stored(db, "s")["metadata"] == {"b": 2}

    def test_a_field_can_be_cleared(self, db: SessionDB, session: NewSession) -> None:
        db.update_session(session(cwd="/a"), cwd=None)
        assert stored(db, "s")["cwd"] is None

    def test_changing_an_unknown_session_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="ghost"):
            db.update_session("ghost", cwd="/a")

    @pytest.mark.parametrize("name", ["parent_session_id", "ledger", "last_seq", "title", "id", "nonsense"])
    def test_fields_kept_by_the_store_are_not_changed_by_hand(
        self, db: SessionDB, session: NewSession, name: str
    ) -> None:
        before = stored(db, session())
        with pytest.raises(Invalid, match=name):
            db.update_session("s", **{name: "x"})
        assert stored(db, "s") == before


class ResolveLaws(LawBase):
    def test_a_full_id_resolves_to_itself(self, db: SessionDB, session: NewSession) -> None:
        assert db.resolve_session_id(session("20260101_120000_abcd")) == "20260101_120000_abcd"

    def test_a_prefix_of_one_session_resolves(self, db: SessionDB, session: NewSession) -> None:
        session("20260101_x")
        session("20270101_y")
        assert db.resolve_session_id("2026") == "20260101_x"

    def test_a_prefix_of_two_sessions_resolves_to_none(self, db: SessionDB, session: NewSession) -> None:
        session("20260101_x")
        session("20260101_y")
        assert db.resolve_session_id("2026") is None

    def test_an_exact_id_beats_longer_ones(self, db: SessionDB, session: NewSession) -> None:
        for name in ("run", "run-1", "run-2", "run!"):
            session(name)
        assert db.resolve_session_id("run") == "run"

    def test_an_empty_prefix_resolves_to_none(self, db: SessionDB, session: NewSession) -> None:
        session("only")
        assert db.resolve_session_id("") is None

    def test_an_unknown_prefix_resolves_to_none(self, db: SessionDB, session: NewSession) -> None:
        session("only")
        assert db.resolve_session_id("other") is None

    @pytest.mark.parametrize("prefix", ["on%", "o_ly", "%", "*", "on?"])
    def test_wildcards_are_plain_characters(self, db: SessionDB, session: NewSession, prefix: str) -> None:
        session("only")
        assert db.resolve_session_id(prefix) is None

    def test_a_prefix_differs_by_case(self, db: SessionDB, session: NewSession) -> None:
        session("abc-1")
        assert db.resolve_session_id("ABC") is None

    @pytest.mark.parametrize("rest", ["\U0010ffff\U0010ffff", "\x00", "\ud800", "漢"])
    def test_a_prefix_may_be_followed_by_anything(self, db: SessionDB, session: NewSession, rest: str) -> None:
        assert db.resolve_session_id(session("a" + rest)[:1]) == "a" + rest

    @pytest.mark.parametrize("prefix", ["\x00", "\ud800", "\\", "漢", "\U0010ffff"])
    def test_a_prefix_may_be_any_text(self, db: SessionDB, session: NewSession, prefix: str) -> None:
        session("other")
        assert db.resolve_session_id(session(prefix + "x")[:1]) == prefix + "x"

    def test_ids_are_found_in_order(self, db: SessionDB, session: NewSession) -> None:
        for name in ("a2", "a10", "b", "a1"):
            session(name)
        assert db.provider.find_ids("a", 2) == ["a1", "a10"]


class CountLaws(LawBase):
    def test_sessions_are_counted(self, db: SessionDB, session: NewSession) -> None:
        session("a", "cli")
        session("b", "telegram")
        assert db.session_count() == 2

    def test_sessions_are_counted_by_source(self, db: SessionDB, session: NewSession) -> None:
        session("a", "cli")
        session("b", "telegram")
        assert (db.session_count("cli"), db.session_count(source="ghost")) == (1, 0)
