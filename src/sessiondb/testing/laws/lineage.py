"""Lineage: parents and children, continuations, where to resume."""

from __future__ import annotations

import pytest

from ...db import SessionDB
from ...errors import AlreadyExists, Conflict, NotFound
from ..clock import FakeClock
from .base import LawBase, NewSession, say, stored, titled


def ids(rows: object) -> list[str]:
    return [row["id"] for row in rows]  # type: ignore[attr-defined]


class FamilyLaws(LawBase):
    @pytest.fixture
    def tree(self, session: NewSession) -> NewSession:
        """root -> (a, b), a -> a1."""
        session("root", started_at=1)
        session("b", parent_session_id="root", started_at=3)
        session("a", parent_session_id="root", started_at=2)
        session("a1", parent_session_id="a", started_at=4)
        session("stranger")
        return session

    def test_ancestors_begin_with_the_parent(self, db: SessionDB, tree: NewSession) -> None:
        assert ids(db.ancestors("a1")) == ["a", "root"]

    def test_descendants_come_by_generation_and_start(self, db: SessionDB, tree: NewSession) -> None:
        assert ids(db.descendants("root")) == ["a", "b", "a1"]

    def test_a_generation_is_ordered_across_parents(self, db: SessionDB, tree: NewSession) -> None:
        tree("b1", parent_session_id="b", started_at=3.5)
        assert ids(db.descendants("root")) == ["a", "b", "b1", "a1"]

    def test_the_root_is_the_first_ancestor(self, db: SessionDB, tree: NewSession) -> None:
        assert [db.lineage_root(name) for name in ("a1", "root", "stranger")] == ["root", "root", "stranger"]

    def test_a_family_is_the_whole_tree(self, db: SessionDB, tree: NewSession) -> None:
        assert ids(db.family("b")) == ["root", "a", "b", "a1"]

    def test_an_unknown_session_has_no_relatives(self, db: SessionDB) -> None:
        assert (db.ancestors("ghost"), db.descendants("ghost"), db.lineage_root("ghost")) == ([], [], "ghost")

    def test_an_unknown_session_has_no_family(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="ghost"):
            db.family("ghost")

    def test_a_cycle_ends_every_walk(self, db: SessionDB, tree: NewSession) -> None:
        db.provider.update_session("root", {"parent_session_id": "a1"})
        assert ids(db.ancestors("a1")) == ["a", "root"]
        assert ids(db.descendants("a1")) == ["root", "a", "b"]
        assert sorted(ids(db.family("a"))) == ["a", "a1", "b", "root"]

    def test_a_session_may_be_its_own_parent_without_harm(self, db: SessionDB, session: NewSession) -> None:
        db.provider.update_session(session(), {"parent_session_id": "s"})
        assert (db.ancestors("s"), db.descendants("s"), db.lineage_root("s")) == ([], [], "s")

    def test_an_unknown_parent_cannot_be_linked(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(NotFound, match="ghost"):
            db.provider.update_session(session(), {"parent_session_id": "ghost"})
        assert stored(db, "s")["parent_session_id"] is None


class RelationLaws(LawBase):
    @pytest.mark.parametrize(
        ("end_reason", "relation"),
        [("compression", "compression"), ("branched", "fork"), ("session_reset", "reset"), ("user_exit", "subagent")],
    )
    def test_the_end_of_the_parent_tells_what_a_child_is(
        self, db: SessionDB, session: NewSession, end_reason: str, relation: str
    ) -> None:
        db.end_session(session("a"), end_reason)
        assert stored(db, session("b", parent_session_id="a"))["relation"] == relation

    def test_a_child_of_an_open_session_is_a_sub_agent(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, session("b", parent_session_id=session("a")))["relation"] == "subagent"

    def test_a_relation_may_be_given(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, session("b", parent_session_id=session("a"), relation="fork"))["relation"] == "fork"

    def test_the_second_child_of_a_compressed_session_is_no_continuation(
        self, db: SessionDB, session: NewSession
    ) -> None:
        db.end_session(session("a"), "compression")
        session("b", parent_session_id="a")
        assert stored(db, session("c", parent_session_id="a"))["relation"] == "subagent"

    def test_a_second_continuation_is_refused(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        with pytest.raises(Conflict, match="b"):
            session("c", parent_session_id="a", relation="compression")
        assert db.get_session("c") is None


class RotationLaws(LawBase):
    def test_the_old_session_ends_with_compression(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        db.rotate_session(session())
        row = stored(db, "s")
        assert (row["ended_at"], row["end_reason"]) == (clock.now, "compression")

    def test_the_new_session_continues_the_old_one(self, db: SessionDB, session: NewSession) -> None:
        row = stored(db, db.rotate_session(session(), new_id="next"))
        assert (row["id"], row["parent_session_id"], row["relation"]) == ("next", "s", "compression")
        assert row["ended_at"] is None

    def test_the_title_goes_on(self, db: SessionDB) -> None:
        titled(db, "s", "deploy")
        assert stored(db, db.rotate_session("s"))["title"] == "deploy #2"
        assert stored(db, "s")["title"] == "deploy"

    def test_the_title_skips_what_is_taken(self, db: SessionDB) -> None:
        titled(db, "s", "deploy")
        titled(db, "x", "deploy #7")
        assert stored(db, db.rotate_session("s"))["title"] == "deploy #8"

    def test_an_untitled_session_continues_untitled(self, db: SessionDB, session: NewSession) -> None:
        assert stored(db, db.rotate_session(session()))["title"] is None

    def test_a_long_title_goes_on_shortened(self, db: SessionDB) -> None:
        titled(db, "s", "x" * 100)
        assert stored(db, db.rotate_session("s"))["title"] == "x" * 97 + " #2"

    def test_rotating_twice_returns_the_continuation(self, db: SessionDB, session: NewSession) -> None:
        first = db.rotate_session(session())
        assert db.rotate_session("s", new_id="another") == first
        assert db.get_session("another") is None

    def test_the_setting_is_inherited(self, db: SessionDB, session: NewSession) -> None:
        session(model="m", system_prompt="be brief", user_id="u", session_key="k", chat_id="c", cwd="/a")
        row = stored(db, db.rotate_session("s"))
        assert (row["source"], row["model"], row["system_prompt"]) == ("cli", "m", "be brief")
        assert (row["user_id"], row["session_key"], row["chat_id"], row["cwd"]) == ("u", "k", "c", "/a")

    def test_what_is_given_is_not_inherited(self, db: SessionDB, session: NewSession) -> None:
        session(model="m", system_prompt="be brief")
        row = stored(db, db.rotate_session("s", system_prompt="go on", model="m2"))
        assert (row["system_prompt"], row["model"]) == ("go on", "m2")

    def test_messages_and_tokens_stay_with_the_old_one(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a")
        db.update_token_counts("s", 5)
        row = stored(db, db.rotate_session("s"))
        assert (row["message_count"], row["input_tokens"], db.message_count("s")) == (0, 0, 1)

    def test_an_ended_session_keeps_its_time_of_end(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        db.end_session(session(), "user_exit")
        ended = clock.now
        clock.move(60)
        db.rotate_session("s")
        assert (stored(db, "s")["ended_at"], stored(db, "s")["end_reason"]) == (ended, "compression")

    def test_a_continuation_begins_with_the_messages_given(self, db: SessionDB, session: NewSession) -> None:
        summary = {"role": "system", "content": "what was said", "injected": True}
        child = db.rotate_session(session(), messages=[summary, {"role": "user", "content": "and now?"}])
        assert [(row["role"], row["content"]) for row in db.get_messages(child)] == [
            ("system", "what was said"), ("user", "and now?"),
        ]  # fmt: skip
        assert db.verify(child).ok

    def test_a_second_rotation_adds_no_messages(self, db: SessionDB, session: NewSession) -> None:
        child = db.rotate_session(session(), messages=[{"role": "user", "content": "once"}])
        db.rotate_session("s", messages=[{"role": "user", "content": "twice"}])
        assert [row["content"] for row in db.get_messages(child)] == ["once"]

    def test_an_unknown_session_cannot_be_rotated(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="ghost"):
            db.rotate_session("ghost")

    def test_a_taken_id_is_no_continuation(self, db: SessionDB, session: NewSession) -> None:
        session("taken")
        with pytest.raises(AlreadyExists, match="taken"):
            db.rotate_session(session(), new_id="taken")
        assert stored(db, "s")["ended_at"] is None

    def test_a_sub_agent_is_no_continuation(self, db: SessionDB, session: NewSession) -> None:
        session("sub", parent_session_id=session())
        assert db.rotate_session("s", new_id="next") == "next"


class TipLaws(LawBase):
    def test_the_tip_is_the_last_continuation(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        db.rotate_session("b", new_id="c")
        assert [db.get_compression_tip(name) for name in "abc"] == ["c", "c", "c"]

    def test_an_uncompressed_session_is_its_own_tip(self, db: SessionDB, session: NewSession) -> None:
        assert db.get_compression_tip(session()) == "s"

    def test_an_unknown_session_is_its_own_tip(self, db: SessionDB) -> None:
        assert db.get_compression_tip("ghost") == "ghost"

    def test_sub_agents_and_forks_are_not_followed(self, db: SessionDB, session: NewSession) -> None:
        session("sub", parent_session_id=session("a"))
        db.fork_session("a", new_id="fork")
        db.rotate_session("a", new_id="b")
        assert db.get_compression_tip("a") == "b"

    def test_a_cycle_of_continuations_ends(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        db.end_session("b", "compression")
        db.provider.update_session("a", {"parent_session_id": "b", "relation": "compression"})
        assert db.get_compression_tip("a") in ("a", "b")

    def test_a_session_with_messages_resumes_itself(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "x")
        say(db, session("b", parent_session_id="a"), "y")
        assert db.resolve_resume_session_id("a") == "a"

    def test_an_empty_session_resumes_where_messages_are(self, db: SessionDB, session: NewSession) -> None:
        session("b", parent_session_id=session("a"))
        say(db, session("c", parent_session_id="b"), "x")
        assert db.resolve_resume_session_id("a") == "c"

    def test_an_empty_lineage_resumes_at_the_id_given(self, db: SessionDB, session: NewSession) -> None:
        session("b", parent_session_id=session("a"))
        assert (db.resolve_resume_session_id("a"), db.resolve_resume_session_id("ghost")) == ("a", "ghost")
