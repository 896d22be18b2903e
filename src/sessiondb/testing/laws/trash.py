"""Deleting, pruning, and taking it back."""

from __future__ import annotations

import pytest

from ...db import SessionDB
from ...errors import AlreadyExists, Invalid, NotFound, TitleTaken
from ...models import Filter
from ..clock import FakeClock
from .base import DAY, LawBase, NewSession, contents, deleted, listed, positions, say, stored, titled
from .messages import CALL


class DeleteLaws(LawBase):
    def test_a_deleted_session_is_gone_with_its_messages(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a")
        assert db.delete_session("s") is True
        assert (db.get_session("s"), db.get_messages("s"), db.message_count(), db.session_count()) == (None, [], 0, 0)

    def test_an_unknown_session_cannot_be_deleted(self, db: SessionDB) -> None:
        assert db.delete_session("ghost") is False

    def test_children_stay_without_a_parent(self, db: SessionDB, session: NewSession) -> None:
        session("b", parent_session_id=session("a"))
        db.delete_session("a")
        assert stored(db, "b")["parent_session_id"] is None

    def test_id_and_title_are_free_at_once(self, db: SessionDB) -> None:
        say(db, titled(db, "s", "deploy"), "old")
        db.delete_session("s")
        titled(db, "s", "deploy")
        assert contents(db, "s") == []

    def test_the_trash_shows_the_last_deleted_first(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        for name in "bac":
            db.delete_session(session(name))
            clock.move(1)
        assert deleted(db) == ["c", "a", "b"]

    def test_the_trash_tells_when(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        db.delete_session(session())
        assert db.list_trash()[0]["deleted_at"] == clock.now

    def test_the_trash_has_pages(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        for name in "abc":
            db.delete_session(session(name))
            clock.move(1)
        assert [row["id"] for row in db.list_trash(limit=1, offset=1)] == ["b"]

    def test_a_hard_deletion_leaves_no_trash(self, db: SessionDB, session: NewSession) -> None:
        session("b", parent_session_id=session("a"))
        assert db.delete_session("a", hard=True) is True
        assert (deleted(db), stored(db, "b")["parent_session_id"]) == ([], None)

    def test_other_sessions_keep_what_they_have(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "a")
        say(db, session("b"), "b")
        db.tag_session("b", "work")
        db.delete_session("a")
        assert (contents(db, "b"), db.get_tags("b"), db.verify().ok) == (["b"], ["work"], True)

    def test_several_are_deleted_in_order_of_id(self, db: SessionDB, session: NewSession) -> None:
        for name in "cab":
            session(name)
        assert db.provider.delete_sessions(Filter(ids=("b", "c", "ghost")), deleted_at=1.0) == ["b", "c"]


class RestoreLaws(LawBase):
    def test_a_restored_session_is_as_it_was(self, db: SessionDB) -> None:
        db.append_message(titled(db, "s", "deploy"), "assistant", "a", tool_calls=[CALL], message_key="k")
        db.update_token_counts("s", 5, estimated_cost_usd=0.5)
        db.end_session("s", "user_exit")
        before = stored(db, "s")
        db.delete_session("s")
        assert db.restore_deleted("s") == "s"
        assert {**stored(db, "s"), "last_message_id": 0} == {**before, "last_message_id": 0}

    def test_all_it_owns_comes_back(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", "a", tool_calls=[CALL], media_refs=[{"kind": "image", "path": "x"}])
        db.append_message("s", "tool", "done", tool_call_id="c1")
        db.tag_session("s", "work")
        db.delete_session("s")
        db.restore_deleted("s")
        (call,), (ref,), messages = db.get_tool_calls("s"), db.get_media_refs("s"), db.get_messages("s")
        assert [row["content"] for row in messages] == ["a", "done"]
        assert (call["status"], call["message_id"]) == ("completed", messages[0]["id"])
        assert (ref["path"], ref["message_id"]) == ("x", messages[0]["id"])
        assert db.get_tags("s") == ["work"]

    def test_positions_hidden_messages_and_ledger_come_back(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "gone")
        db.replace_messages("s", [{"role": "user", "content": text} for text in "abc"])
        db.rewind_to_message("s", db.get_messages("s")[1]["id"])
        ledger = stored(db, "s")["ledger"]
        db.delete_session("s")
        db.restore_deleted("s")
        assert (contents(db, "s"), positions(db, "s", include_inactive=True)) == (["a", "b"], [2, 3, 4])
        assert (stored(db, "s")["ledger"], db.verify().ok) == (ledger, True)

    def test_a_restored_conversation_goes_on(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a")
        db.delete_session("s")
        db.restore_deleted("s")
        say(db, "s", "b")
        assert (contents(db, "s"), positions(db, "s")) == (["a", "b"], [1, 2])

    def test_a_restored_key_is_still_known(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "a", message_key="k")
        db.delete_session("s")
        db.restore_deleted("s")
        db.append_message("s", "user", "a", message_key="k")
        assert contents(db, "s") == ["a"]

    def test_a_restored_session_leaves_the_trash(self, db: SessionDB, session: NewSession) -> None:
        db.delete_session(session())
        db.restore_deleted("s")
        assert (deleted(db), stored(db, "s")["deleted_at"]) == ([], None)
        with pytest.raises(NotFound):
            db.restore_deleted("s")

    def test_a_restored_session_is_found_again(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "needle")
        db.delete_session("s")
        assert db.search_messages("needle") == []
        db.restore_deleted("s")
        assert [hit["session_id"] for hit in db.search_messages("needle")] == ["s"]

    def test_what_is_not_in_the_trash_cannot_come_back(self, db: SessionDB, session: NewSession) -> None:
        session("alive")
        for name in ("ghost", "alive"):
            with pytest.raises(NotFound, match=name):
                db.restore_deleted(name)

    def test_a_taken_id_is_a_conflict(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "old")
        db.delete_session("s")
        say(db, session(), "new")
        with pytest.raises(AlreadyExists, match="new_id"):
            db.restore_deleted("s")
        assert (contents(db, "s"), deleted(db)) == (["new"], ["s"])

    def test_a_new_id_solves_the_conflict(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "old")
        db.delete_session("s")
        say(db, session(), "new")
        assert db.restore_deleted("s", new_id="s2") == "s2"
        assert (contents(db, "s"), contents(db, "s2"), db.verify().ok) == (["new"], ["old"], True)

    def test_a_new_id_must_be_free_too(self, db: SessionDB, session: NewSession) -> None:
        session("taken")
        db.delete_session(session())
        with pytest.raises(AlreadyExists, match="taken"):
            db.restore_deleted("s", new_id="taken")

    def test_a_taken_title_is_a_conflict(self, db: SessionDB) -> None:
        db.delete_session(titled(db, "s", "deploy"))
        titled(db, "holder", "deploy")
        with pytest.raises(TitleTaken, match="holder"):
            db.restore_deleted("s")
        assert (db.get_session("s"), deleted(db)) == (None, ["s"])

    def test_a_new_title_solves_the_conflict(self, db: SessionDB) -> None:
        db.delete_session(titled(db, "s", "deploy"))
        titled(db, "holder", "deploy")
        db.restore_deleted("s", new_title=True)
        assert db.get_session_title("s") == "deploy #2"

    def test_a_new_title_is_not_needed_when_the_old_one_is_free(self, db: SessionDB) -> None:
        db.delete_session(titled(db, "s", "deploy"))
        db.restore_deleted("s", new_title=True)
        assert db.get_session_title("s") == "deploy"

    def test_the_last_deleted_of_an_id_comes_back_first(
        self, db: SessionDB, session: NewSession, clock: FakeClock
    ) -> None:
        for text in ("old", "new"):
            say(db, session(), text)
            db.delete_session("s")
            clock.move(1)
        assert deleted(db) == ["s", "s"]
        assert contents(db, db.restore_deleted("s")) == ["new"]
        assert contents(db, db.restore_deleted("s", new_id="s2")) == ["old"]


class RelinkLaws(LawBase):
    def test_a_restored_parent_gets_its_children_back(self, db: SessionDB, session: NewSession) -> None:
        session("child", parent_session_id=session("parent"))
        db.delete_session("parent")
        db.restore_deleted("parent")
        assert stored(db, "child")["parent_session_id"] == "parent"

    def test_a_restored_child_gets_its_parent_back(self, db: SessionDB, session: NewSession) -> None:
        session("child", parent_session_id=session("parent"))
        db.delete_session("child")
        db.restore_deleted("child")
        assert stored(db, "child")["parent_session_id"] == "parent"

    @pytest.mark.parametrize("first", ["parent", "child"])
    @pytest.mark.parametrize("back", ["parent", "child"])
    def test_both_find_each_other_in_any_order(self, db: SessionDB, session: NewSession, first: str, back: str) -> None:
        session("child", parent_session_id=session("parent"))
        other = {"parent": "child", "child": "parent"}
        db.delete_session(first)
        db.delete_session(other[first])
        db.restore_deleted(back)
        db.restore_deleted(other[back])
        assert stored(db, "child")["parent_session_id"] == "parent"

    @pytest.mark.parametrize("back", ["parent", "child"])
    def test_both_find_each_other_after_one_deletion(self, db: SessionDB, session: NewSession, back: str) -> None:
        session("child", parent_session_id=session("parent"))
        db.provider.delete_sessions(Filter(), deleted_at=1.0)
        db.restore_deleted(back)
        db.restore_deleted({"parent": "child", "child": "parent"}[back])
        assert stored(db, "child")["parent_session_id"] == "parent"

    def test_a_child_restored_without_its_parent_is_alone(self, db: SessionDB, session: NewSession) -> None:
        session("child", parent_session_id=session("parent"))
        db.delete_session("child")
        db.delete_session("parent", hard=True)
        db.restore_deleted("child")
        assert stored(db, "child")["parent_session_id"] is None

    def test_a_child_with_a_new_parent_keeps_it(self, db: SessionDB, session: NewSession) -> None:
        session("child", parent_session_id=session("parent"))
        db.delete_session("parent")
        db.provider.update_session("child", {"parent_session_id": session("other")})
        db.restore_deleted("parent")
        assert stored(db, "child")["parent_session_id"] == "other"

    def test_children_follow_a_parent_to_its_new_id(self, db: SessionDB, session: NewSession) -> None:
        session("child", parent_session_id=session("parent"))
        db.delete_session("parent")
        session("parent")
        db.restore_deleted("parent", new_id="parent2")
        assert stored(db, "child")["parent_session_id"] == "parent2"

    def test_a_restored_conversation_has_its_continuation(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        db.delete_session("a")
        db.restore_deleted("a")
        assert (db.get_compression_tip("a"), listed(db)) == ("b", ["b"])

    def test_a_restored_continuation_is_the_tip_again(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        db.delete_session("b")
        assert db.get_compression_tip("a") == "a"
        db.restore_deleted("b")
        assert db.get_compression_tip("a") == "b"

    def test_a_session_whose_continuation_is_deleted_can_be_rotated(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        db.delete_session("b")
        assert db.rotate_session("a", new_id="c") == "c"

    def test_a_continuation_comes_back_beside_its_successor_as_a_branch(
        self, db: SessionDB, session: NewSession
    ) -> None:
        db.rotate_session(session("a"), new_id="b")
        db.delete_session("b")
        db.rotate_session("a", new_id="c")
        db.restore_deleted("b")
        row = stored(db, "b")
        assert (row["parent_session_id"], row["relation"], db.get_compression_tip("a")) == ("a", "fork", "c")

    def test_a_restored_conversation_keeps_its_own_continuation(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        db.delete_session("a")
        db.rotate_session(session("a"), new_id="c")
        db.restore_deleted("a", new_id="a2")
        assert (db.get_compression_tip("a2"), db.get_compression_tip("a")) == ("b", "c")


class EmptyTrashLaws(LawBase):
    def test_what_is_older_than_thirty_days_goes(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        db.delete_session(session("old"))
        clock.move(10 * DAY)
        db.delete_session(session("new"))
        clock.move(21 * DAY)
        assert db.empty_trash() == 1
        assert deleted(db) == ["new"]

    def test_zero_days_empties_all_but_this_moment(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        db.delete_session(session())
        clock.move(1)
        assert (db.empty_trash(older_than_days=0), deleted(db)) == (1, [])

    def test_a_destroyed_session_cannot_come_back(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        say(db, session(), "a")
        db.delete_session("s")
        clock.move(1)
        db.empty_trash(0)
        with pytest.raises(NotFound, match="s"):
            db.restore_deleted("s")

    def test_living_sessions_are_not_touched(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        say(db, session(), "a")
        clock.move(1000 * DAY)
        assert (db.empty_trash(0), contents(db, "s")) == (0, ["a"])


class PruneLaws(LawBase):
    @pytest.fixture
    def aged(self, db: SessionDB, session: NewSession, clock: FakeClock) -> SessionDB:
        """Sessions that started 100, 90 and 10 days ago, ended; one of 100 days still open."""
        for name, days in (("old", 100), ("edge", 90), ("young", 10)):
            db.end_session(session(name, started_at=clock.now - days * DAY), "user_exit")
        session("open", started_at=clock.now - 100 * DAY)
        return db

    def test_only_old_ended_sessions_are_pruned(self, aged: SessionDB) -> None:
        assert aged.prune_sessions() == 1
        assert sorted(listed(aged)) == ["edge", "open", "young"]

    def test_the_start_counts_not_the_end(self, aged: SessionDB, clock: FakeClock) -> None:
        assert (stored(aged, "old")["ended_at"], aged.prune_sessions(90)) == (clock.now, 1)

    def test_pruned_sessions_are_in_the_trash(self, aged: SessionDB) -> None:
        aged.prune_sessions()
        assert deleted(aged) == ["old"]

    def test_zero_days_prunes_every_ended_session(self, aged: SessionDB) -> None:
        assert aged.prune_sessions(0) == 3
        assert listed(aged) == ["open"]

    def test_pinned_sessions_are_never_pruned(self, aged: SessionDB) -> None:
        aged.pin_session("old")
        assert aged.prune_sessions() == 0

    def test_one_source_can_be_pruned(self, aged: SessionDB) -> None:
        assert (aged.prune_sessions(source="cron"), aged.prune_sessions(source="cli")) == (0, 1)

    def test_a_filter_narrows_a_prune(self, aged: SessionDB) -> None:
        assert aged.prune_sessions(0, where=Filter(ids=("edge", "open"))) == 1
        assert deleted(aged) == ["edge"]

    def test_a_dry_run_only_counts(self, aged: SessionDB) -> None:
        assert aged.prune_sessions(dry_run=True) == 1
        assert (aged.session_count(), deleted(aged)) == (4, [])

    def test_what_would_go_can_be_listed(self, aged: SessionDB) -> None:
        assert [row["id"] for row in aged.list_prunable()] == ["old"]

    def test_a_hard_prune_leaves_no_trash(self, aged: SessionDB) -> None:
        assert (aged.prune_sessions(hard=True), deleted(aged)) == (1, [])

    def test_surviving_children_lose_their_parent(self, aged: SessionDB) -> None:
        aged.create_session("child", "cli", parent_session_id="old")
        aged.prune_sessions()
        assert stored(aged, "child")["parent_session_id"] is None

    def test_whole_old_chains_go(self, aged: SessionDB, clock: FakeClock) -> None:
        aged.create_session("child", "cli", parent_session_id="old", started_at=clock.now - 95 * DAY)
        aged.end_session("child", "user_exit")
        assert aged.prune_sessions() == 2

    @pytest.mark.parametrize("days", [-1, float("nan"), "90", None, True])
    def test_a_bad_age_is_refused(self, aged: SessionDB, days: float) -> None:
        with pytest.raises(Invalid, match="older_than_days"):
            aged.prune_sessions(days)
        assert aged.session_count() == 4
