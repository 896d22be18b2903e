"""Lists: newest first, with a preview, filtered and in pages."""

from __future__ import annotations

from typing import Any

import pytest

from ...db import SessionDB
from ...errors import Invalid
from ...models import SESSION_COLUMNS, Filter
from ..clock import FakeClock
from .base import LawBase, NewSession, listed, say, titled


def previewed(db: SessionDB) -> str:
    return db.list_sessions_rich()[0]["preview"]


class OrderLaws(LawBase):
    def test_the_newest_started_comes_first(self, db: SessionDB, session: NewSession) -> None:
        for name, start in (("a", 2.0), ("b", 3.0), ("c", 1.0)):
            session(name, started_at=start)
        assert listed(db) == ["b", "a", "c"]

    def test_equal_starts_are_ordered_by_id(self, db: SessionDB, session: NewSession) -> None:
        for name in ("b", "c", "a"):
            session(name)
        assert listed(db) == ["c", "b", "a"]

    def test_order_by_activity_puts_the_last_spoken_first(self, db: SessionDB, session: NewSession) -> None:
        for name in ("a", "b"):
            say(db, session(name), "x")
        say(db, "a", "y")
        assert listed(db, order_by="activity") == ["a", "b"]

    def test_a_session_can_be_given_its_place_by_activity(self, db: SessionDB, session: NewSession) -> None:
        for name in ("a", "b", "c"):
            say(db, session(name), "hi")
        places = {row["id"]: row["last_message_id"] or 0 for row in db.provider.session_facts(Filter())}
        db.provider.place_sessions({"c": places["a"], "a": places["c"], "gone": 1})
        assert listed(db, order_by="activity") == ["a", "b", "c"]
        say(db, "b", "again")
        assert listed(db, order_by="activity") == ["b", "a", "c"]

    def test_activity_does_not_depend_on_the_clock(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        say(db, session("a"), "x")
        clock.move(-7200)
        say(db, session("b"), "y")
        assert listed(db, order_by="activity") == ["b", "a"]

    def test_a_new_session_is_active_before_older_talk(
        self, db: SessionDB, session: NewSession, clock: FakeClock
    ) -> None:
        say(db, session("a"), "x")
        clock.move(1)
        session("b")
        assert listed(db, order_by="activity") == ["b", "a"]
        say(db, "a", "y")
        assert listed(db, order_by="activity") == ["a", "b"]

    def test_pages_do_not_overlap(self, db: SessionDB, session: NewSession) -> None:
        for name in "abcde":
            session(name)
        pages = [listed(db, limit=2, offset=offset) for offset in (0, 2, 4, 6)]
        assert pages == [["e", "d"], ["c", "b"], ["a"], []]

    def test_twenty_sessions_are_shown_unless_told(self, db: SessionDB, session: NewSession) -> None:
        for number in range(25):
            session(f"s{number}")
        assert (len(listed(db)), len(listed(db, limit=None))) == (20, 25)

    def test_a_limit_of_zero_shows_nothing(self, db: SessionDB, session: NewSession) -> None:
        session()
        assert listed(db, limit=0) == []

    def test_an_unknown_order_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(Invalid, match="size"):
            db.list_sessions_rich(order_by="size")

    def test_search_sessions_is_a_plain_listing(self, db: SessionDB, session: NewSession) -> None:
        session("a", "cli", started_at=1)
        session("b", "web", started_at=2)
        assert [row["id"] for row in db.search_sessions()] == ["b", "a"]
        assert [row["id"] for row in db.search_sessions("cli")] == ["a"]
        assert "preview" not in db.search_sessions()[0]


class PreviewLaws(LawBase):
    def test_a_listed_session_has_every_column_and_a_preview(self, db: SessionDB, session: NewSession) -> None:
        session()
        assert set(db.list_sessions_rich()[0]) == {*SESSION_COLUMNS, "preview"}

    def test_the_preview_is_the_first_prompt(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "system prompt", role="system")
        say(db, "s", "first", "second")
        assert previewed(db) == "first"

    def test_a_session_without_prompt_has_an_empty_preview(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "hello", role="assistant")
        assert previewed(db) == ""

    def test_sixty_characters_are_shown_whole(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "漢" * 60)
        assert previewed(db) == "漢" * 60

    def test_more_than_sixty_characters_end_in_dots(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "x" * 61)
        assert previewed(db) == "x" * 60 + "..."

    def test_line_ends_become_blanks(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a\r\nb\n\nc")
        assert previewed(db) == "a  b  c"

    def test_injected_prompts_are_not_shown(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "context", injected=True)
        say(db, "s", "question")
        assert previewed(db) == "question"

    def test_hidden_prompts_are_not_shown(self, db: SessionDB, session: NewSession) -> None:
        (anchor,) = say(db, session(), "hello", role="assistant")
        say(db, "s", "hidden")
        db.rewind_to_message("s", anchor)
        say(db, "s", "shown")
        assert previewed(db) == "shown"

    def test_structured_prompts_show_their_text(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "look"}])
        assert previewed(db) == "look"

    def test_a_long_structured_prompt_shows_its_beginning(self, db: SessionDB, session: NewSession) -> None:
        picture = {"type": "image_url", "image_url": {"url": "https://example.org/" + "x" * 500}}
        say(db, session(), [picture, {"type": "text", "text": "y" * 5000}])
        assert previewed(db) == "y" * 60 + "..."

    @pytest.mark.parametrize("character", ["\x00", "\ud800", "\N{PILE OF POO}", "\\"])
    def test_odd_characters_count_as_one(self, db: SessionDB, session: NewSession, character: str) -> None:
        say(db, session(), character * 61)
        assert previewed(db) == character * 60 + "..."

    def test_an_empty_prompt_is_an_empty_preview(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "", "question")
        assert previewed(db) == ""

    def test_prompts_without_content_are_passed_over(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), None, "question")
        assert previewed(db) == "question"

    def test_last_active_is_the_start_of_a_silent_session(self, db: SessionDB, session: NewSession) -> None:
        session(started_at=77.0)
        assert db.list_sessions_rich()[0]["last_active"] == 77.0


class ChildrenLaws(LawBase):
    def test_sub_agents_are_hidden(self, db: SessionDB, session: NewSession) -> None:
        session("sub", parent_session_id=session("a"))
        assert listed(db) == ["a"]

    def test_sub_agents_can_be_shown(self, db: SessionDB, session: NewSession) -> None:
        session("sub", parent_session_id=session("a"))
        assert sorted(listed(db, include_children=True)) == ["a", "sub"]

    def test_forks_and_resets_are_shown(self, db: SessionDB, session: NewSession) -> None:
        db.fork_session(session("a"), new_id="fork")
        session("reset", parent_session_id="a", relation="reset")
        assert sorted(listed(db)) == ["a", "fork", "reset"]

    def test_a_compressed_conversation_shows_as_its_newest_part(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        db.rotate_session("b", new_id="c")
        assert listed(db) == ["c"]

    def test_a_compressed_conversation_may_show_as_its_first_part(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        assert listed(db, project_compression_tips=False) == ["a"]

    def test_every_part_shows_with_the_children(self, db: SessionDB, session: NewSession) -> None:
        db.rotate_session(session("a"), new_id="b")
        assert sorted(listed(db, include_children=True)) == ["a", "b"]

    def test_orphans_of_a_deleted_parent_keep_their_kind(self, db: SessionDB, session: NewSession) -> None:
        session("sub", parent_session_id=session("a"))
        db.delete_session("a")
        assert (listed(db), listed(db, include_children=True)) == ([], ["sub"])


class FilterLaws(LawBase):
    @pytest.fixture
    def several(self, db: SessionDB, session: NewSession) -> SessionDB:
        session("a", "cli", started_at=100.0, user_id="ann", model="m1", cwd="/home/ann", chat_id="1", session_key="k")
        session("b", "web", started_at=200.0, user_id="bob", model="m2", cwd="/home/ann/src")
        session("c", "cron", started_at=300.0, cwd="/home/annette")
        db.append_message("a", "user", "late", timestamp=400.0)
        db.set_session_title("b", "Deploy 50%_done")
        db.end_session("c", "timeout")
        return db

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({"ids": ("a", "c", "ghost")}, ["c", "a"]),
            ({"ids": ()}, []),
            ({"sources": ("cli", "cron")}, ["c", "a"]),
            ({"sources": ()}, []),
            ({"sources": None}, ["c", "b", "a"]),
            ({"exclude_sources": ("cron", "web")}, ["a"]),
            ({"exclude_sources": ()}, ["c", "b", "a"]),
            ({"user_id": "ann"}, ["a"]),
            ({"user_id": "Ann"}, []),
            ({"model": "m2"}, ["b"]),
            ({"chat_id": "1"}, ["a"]),
            ({"session_key": "k"}, ["a"]),
            ({"session_key_prefix": "k"}, ["a"]),
            ({"session_key_prefix": "key"}, []),
            ({"session_key_prefix": ""}, ["a"]),
            ({"cwd": "/home/ann"}, ["b", "a"]),
            ({"cwd": "/home/ann/"}, ["b"]),
            ({"cwd": "/"}, ["c", "b", "a"]),
            ({"cwd": "/home/%"}, []),
            ({"title_contains": "deploy"}, ["b"]),
            ({"title_contains": "50%_D"}, ["b"]),
            ({"title_contains": "5_%"}, []),
            ({"started_since": 200.0}, ["c", "b"]),
            ({"started_before": 200.0}, ["a"]),
            ({"active_since": 300.0}, ["c", "a"]),
            ({"active_until": 300.0}, ["b"]),
            ({"ended": True}, ["c"]),
            ({"ended": False}, ["b", "a"]),
            ({"sources": ("cli", "web"), "started_since": 150.0}, ["b"]),
        ],
    )
    def test_every_field_narrows(self, several: SessionDB, where: dict[str, Any], expected: list[str]) -> None:
        assert listed(several, where=Filter(**where)) == expected
        assert several.session_count(where=Filter(**where)) == len(expected)

    def test_one_source(self, several: SessionDB) -> None:
        assert listed(several, source="web") == ["b"]

    def test_all_but_some_sources(self, several: SessionDB) -> None:
        assert listed(several, exclude_sources=["web", "cron"]) == ["a"]

    def test_no_excluded_sources_is_all(self, several: SessionDB) -> None:
        assert listed(several, exclude_sources=[]) == ["c", "b", "a"]

    def test_a_filter_and_a_source_hold_together(self, several: SessionDB) -> None:
        assert listed(several, source="cli", where=Filter(started_since=150.0)) == []

    def test_many_ids_can_be_asked_for_at_once(self, several: SessionDB) -> None:
        ids = tuple(f"ghost{number}" for number in range(3000))
        assert listed(several, where=Filter(ids=(*ids, "a"))) == ["a"]

    def test_a_title_with_letters_beyond_ascii_is_matched_as_written(self, db: SessionDB) -> None:
        titled(db, "s", "Ärger MIT Öl")
        assert listed(db, where=Filter(title_contains="Ärger mit")) == ["s"]
