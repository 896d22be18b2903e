"""Tags, archive, pins."""

from __future__ import annotations

import pytest

from ...db import SessionDB
from ...errors import Invalid, NotFound
from ...models import Filter
from ..clock import FakeClock
from .base import LawBase, NewSession, listed, say, stored


class TagLaws(LawBase):
    def test_tags_are_a_sorted_set(self, db: SessionDB, session: NewSession) -> None:
        db.tag_session(session(), "work", "urgent")
        assert db.tag_session("s", "work", "a") == ["a", "urgent", "work"]

    def test_tags_are_read(self, db: SessionDB, session: NewSession) -> None:
        assert db.get_tags(session()) == []
        db.tag_session("s", "work")
        assert db.get_tags("s") == ["work"]

    def test_a_tag_can_be_removed(self, db: SessionDB, session: NewSession) -> None:
        db.tag_session(session(), "a", "b")
        assert db.untag_session("s", "a", "never there") == ["b"]

    def test_tags_differ_by_case(self, db: SessionDB, session: NewSession) -> None:
        assert db.tag_session(session(), "Work", "work") == ["Work", "work"]

    def test_blanks_around_a_tag_do_not_count(self, db: SessionDB, session: NewSession) -> None:
        assert db.tag_session(session(), " work ") == ["work"]

    def test_all_tags_are_told_with_their_sessions(self, db: SessionDB, session: NewSession) -> None:
        assert db.provider.list_tags() == {}
        db.tag_session(session("a"), "work", "späť")
        db.tag_session(session("b"), "work")
        assert db.provider.list_tags() == {"work": 2, "späť": 1}
        db.delete_session("a")
        assert db.provider.list_tags() == {"work": 1}

    def test_tags_belong_to_one_session(self, db: SessionDB, session: NewSession) -> None:
        db.tag_session(session("a"), "work")
        assert db.get_tags(session("b")) == []

    @pytest.mark.parametrize("tag", ["", "  ", "x" * 65, 5, None])
    def test_a_bad_tag_is_refused(self, db: SessionDB, session: NewSession, tag: str) -> None:
        with pytest.raises(Invalid, match="tag"):
            db.tag_session(session(), "good", tag)
        assert db.get_tags("s") == []

    def test_an_unknown_session_has_no_tags_to_change(self, db: SessionDB) -> None:
        for change in (db.tag_session, db.untag_session):
            with pytest.raises(NotFound, match="ghost"):
                change("ghost", "work")
        with pytest.raises(NotFound, match="ghost"):
            db.get_tags("ghost")

    def test_a_list_may_ask_for_all_of_several_tags(self, db: SessionDB, session: NewSession) -> None:
        db.tag_session(session("a"), "x", "y")
        db.tag_session(session("b"), "x")
        assert listed(db, where=Filter(tags=("x", "y"))) == ["a"]
        assert listed(db, where=Filter(tags=("x",))) == ["b", "a"]


class ShelfLaws(LawBase):
    def test_an_archived_session_is_hidden_from_lists(self, db: SessionDB, session: NewSession) -> None:
        session("a")
        db.archive_session(session("b"))
        assert listed(db) == ["a"]

    def test_an_archived_session_is_still_found(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "needle")
        db.archive_session("s")
        assert [hit["session_id"] for hit in db.search_messages("needle")] == ["s"]

    def test_archived_sessions_can_be_asked_for(self, db: SessionDB, session: NewSession) -> None:
        session("a")
        db.archive_session(session("b"))
        assert listed(db, where=Filter(archived=True)) == ["b"]
        assert listed(db, where=Filter()) == ["b", "a"]

    def test_an_archived_session_can_come_back(self, db: SessionDB, session: NewSession) -> None:
        db.archive_session(session())
        db.archive_session("s", False)
        assert (listed(db), stored(db, "s")["archived_at"]) == (["s"], None)

    def test_archive_and_pin_remember_when(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        db.archive_session(session())
        db.pin_session("s")
        assert (stored(db, "s")["archived_at"], stored(db, "s")["pinned_at"]) == (clock.now, clock.now)

    def test_pinned_sessions_can_be_asked_for(self, db: SessionDB, session: NewSession) -> None:
        session("a")
        db.pin_session(session("b"))
        assert (listed(db, where=Filter(pinned=True)), listed(db, where=Filter(pinned=False))) == (["b"], ["a"])

    def test_a_pin_can_be_taken_off(self, db: SessionDB, session: NewSession) -> None:
        db.pin_session(session())
        db.pin_session("s", False)
        assert stored(db, "s")["pinned_at"] is None

    def test_an_unknown_session_goes_on_no_shelf(self, db: SessionDB) -> None:
        for shelve in (db.archive_session, db.pin_session):
            with pytest.raises(NotFound, match="ghost"):
                shelve("ghost")
