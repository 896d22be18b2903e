"""Titles: clean, unique, numbered along a lineage."""

from __future__ import annotations

import pytest

from ...db import SessionDB
from ...errors import Invalid, TitleTaken
from .base import LawBase, NewSession, stored, titled


class TitleLaws(LawBase):
    def test_a_title_is_set(self, db: SessionDB, session: NewSession) -> None:
        assert db.set_session_title(session(), "deploy") is True
        assert db.get_session_title("s") == "deploy"

    def test_a_new_session_has_no_title(self, db: SessionDB, session: NewSession) -> None:
        assert db.get_session_title(session()) is None

    def test_a_title_for_an_unknown_session_is_false(self, db: SessionDB) -> None:
        assert db.set_session_title("ghost", "deploy") is False

    def test_an_unknown_session_has_no_title(self, db: SessionDB) -> None:
        assert db.get_session_title("ghost") is None

    @pytest.mark.parametrize("nothing", ["", "   ", "\u200b", None])
    def test_an_empty_title_clears(self, db: SessionDB, nothing: str | None) -> None:
        assert db.set_session_title(titled(db, "s", "deploy"), nothing) is True
        assert (stored(db, "s")["title"], stored(db, "s")["title_source"]) == (None, None)

    def test_a_title_is_cleaned(self, db: SessionDB, session: NewSession) -> None:
        db.set_session_title(session(), "  my \t project\x00\u200b\n two ")
        assert db.get_session_title("s") == "my project two"

    def test_a_title_of_100_characters_is_kept(self, db: SessionDB, session: NewSession) -> None:
        db.set_session_title(session(), "漢" * 100)
        assert db.get_session_title("s") == "漢" * 100

    def test_a_title_of_101_characters_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(Invalid, match="101"):
            db.set_session_title(titled(db, "s", "deploy"), "x" * 101)
        assert db.get_session_title("s") == "deploy"

    def test_length_counts_after_cleaning(self, db: SessionDB, session: NewSession) -> None:
        assert db.set_session_title(session(), " " * 50 + "x" * 100)

    def test_two_sessions_cannot_share_a_title(self, db: SessionDB, session: NewSession) -> None:
        titled(db, "holder", "deploy")
        with pytest.raises(TitleTaken, match="holder"):
            db.set_session_title(session("b"), "deploy")
        assert db.get_session_title("b") is None

    def test_a_session_may_keep_its_own_title(self, db: SessionDB) -> None:
        assert db.set_session_title(titled(db, "s", "deploy"), "deploy") is True

    def test_many_sessions_have_no_title(self, db: SessionDB, session: NewSession) -> None:
        db.set_session_title(session("a"), "")
        assert db.set_session_title(session("b"), "") is True

    def test_titles_differ_by_case(self, db: SessionDB) -> None:
        titled(db, "a", "deploy")
        titled(db, "b", "Deploy")
        assert (db.resolve_session_by_title("Deploy"), db.resolve_session_by_title("deploy")) == ("b", "a")

    @pytest.mark.parametrize("other", ["re\u0301sume", "resume", "r\u00e9sum\u00e9 "])
    def test_titles_differ_by_accent_form_and_trailing_blank(
        self, db: SessionDB, session: NewSession, other: str
    ) -> None:
        db.provider.set_title(session("a"), "r\u00e9sum\u00e9", "user")
        assert db.provider.set_title(session("b"), other, "user") is True

    def test_a_renamed_session_frees_its_title(self, db: SessionDB) -> None:
        db.set_session_title(titled(db, "a", "deploy"), "other")
        titled(db, "b", "deploy")
        assert db.resolve_session_by_title("deploy") == "b"

    def test_a_title_set_by_hand_is_the_users(self, db: SessionDB) -> None:
        assert stored(db, titled(db, "s", "deploy"))["title_source"] == "user"

    def test_the_sanitiser_needs_no_store(self) -> None:
        assert SessionDB.sanitize_title(" a \n b ") == "a b"


class TitleLookupLaws(LawBase):
    def test_a_session_is_found_by_its_exact_title(self, db: SessionDB) -> None:
        titled(db, "s", "deploy")
        assert (db.get_session_by_title("deploy") or {})["id"] == "s"

    @pytest.mark.parametrize("other", ["Deploy", "deplo", "deploy ", "deploy%", ""])
    def test_another_title_finds_nothing(self, db: SessionDB, other: str) -> None:
        titled(db, "s", "deploy")
        assert db.get_session_by_title(other) is None

    def test_a_title_resolves_to_its_session(self, db: SessionDB) -> None:
        assert db.resolve_session_by_title("deploy") is None
        titled(db, "s", "deploy")
        assert db.resolve_session_by_title("deploy") == "s"

    def test_an_empty_title_resolves_to_none(self, db: SessionDB, session: NewSession) -> None:
        session()
        assert db.resolve_session_by_title("") is None

    def test_a_title_resolves_to_the_newest_of_its_lineage(self, db: SessionDB) -> None:
        titled(db, "a", "deploy", started_at=1)
        titled(db, "b", "deploy #2", started_at=3)
        titled(db, "c", "deploy #3", started_at=2)
        assert db.resolve_session_by_title("deploy") == "b"

    def test_a_lineage_resolves_without_its_first(self, db: SessionDB) -> None:
        titled(db, "b", "deploy #2")
        assert db.resolve_session_by_title("deploy") == "b"

    def test_a_numbered_title_resolves_exactly(self, db: SessionDB) -> None:
        titled(db, "a", "deploy #2", started_at=1)
        titled(db, "b", "deploy #3", started_at=2)
        assert db.resolve_session_by_title("deploy #2") == "a"

    @pytest.mark.parametrize("other", ["deploy #notes", "deploy #", "deploy #2b", "Deploy #2", "deployment #2"])
    def test_only_numbers_belong_to_a_lineage(self, db: SessionDB, other: str) -> None:
        titled(db, "a", "deploy", started_at=1)
        titled(db, "b", other, started_at=2)
        assert db.resolve_session_by_title("deploy") == "a"

    @pytest.mark.parametrize("other", ["50%_done", "50__done", "%"])
    def test_wildcards_in_titles_are_plain(self, db: SessionDB, other: str) -> None:
        titled(db, "a", "50% done #2")
        assert db.resolve_session_by_title(other) is None

    def test_titles_are_found_by_prefix_newest_first(self, db: SessionDB) -> None:
        titled(db, "a", "deploy", started_at=1)
        titled(db, "b", "deployment", started_at=2)
        titled(db, "c", "Deploy", started_at=3)
        assert [row["id"] for row in db.provider.find_titles("deploy")] == ["b", "a"]


class TitleNumberLaws(LawBase):
    def test_a_free_title_stays_as_it_is(self, db: SessionDB) -> None:
        assert db.get_next_title_in_lineage("deploy") == "deploy"

    def test_a_taken_title_gets_number_two(self, db: SessionDB) -> None:
        titled(db, "a", "deploy")
        assert db.get_next_title_in_lineage("deploy") == "deploy #2"

    def test_the_number_follows_the_highest(self, db: SessionDB) -> None:
        titled(db, "a", "deploy")
        titled(db, "b", "deploy #9")
        titled(db, "c", "deploy #10")
        assert db.get_next_title_in_lineage("deploy") == "deploy #11"

    def test_a_number_is_taken_off_first(self, db: SessionDB) -> None:
        titled(db, "a", "deploy")
        titled(db, "b", "deploy #2")
        assert db.get_next_title_in_lineage("deploy #2") == "deploy #3"

    def test_a_title_that_only_looks_numbered_does_not_count(self, db: SessionDB) -> None:
        titled(db, "a", "deploy")
        titled(db, "b", "deploy #notes")
        assert db.get_next_title_in_lineage("deploy") == "deploy #2"

    def test_a_long_title_is_shortened_for_its_number(self, db: SessionDB, session: NewSession) -> None:
        titled(db, "a", "x" * 100)
        following = db.get_next_title_in_lineage("x" * 100)
        assert following == "x" * 97 + " #2"
        assert db.set_session_title(session("b"), following)

    def test_a_shortened_lineage_goes_on_counting(self, db: SessionDB) -> None:
        titled(db, "a", "x" * 100)
        titled(db, "b", "x" * 97 + " #2")
        assert db.get_next_title_in_lineage("x" * 100) == "x" * 97 + " #3"


class AutoTitleLaws(LawBase):
    def test_an_untitled_session_gets_a_title(self, db: SessionDB, session: NewSession) -> None:
        assert db.set_auto_title_if_empty(session(), "deploy", "first_prompt") is True
        assert (stored(db, "s")["title"], stored(db, "s")["title_source"]) == ("deploy", "first_prompt")

    def test_a_chosen_title_is_never_overwritten(self, db: SessionDB) -> None:
        assert db.set_auto_title_if_empty(titled(db, "s", "mine"), "deploy") is False
        assert (stored(db, "s")["title"], stored(db, "s")["title_source"]) == ("mine", "user")

    def test_a_taken_title_is_numbered(self, db: SessionDB, session: NewSession) -> None:
        titled(db, "a", "deploy")
        assert db.set_auto_title_if_empty(session("b"), "deploy") is True
        assert db.get_session_title("b") == "deploy #2"

    def test_a_title_for_nobody_is_false(self, db: SessionDB) -> None:
        assert db.set_auto_title_if_empty("ghost", "deploy") is False

    def test_an_invisible_title_is_no_title(self, db: SessionDB, session: NewSession) -> None:
        assert db.set_auto_title_if_empty(session(), "\u200b ") is False

    def test_an_unknown_title_source_is_refused(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(Invalid, match="oracle"):
            db.set_auto_title_if_empty(session(), "deploy", "oracle")
