"""Large texts, said again and again: every way to read them gives what was said, however they are kept."""

from __future__ import annotations

from ...db import SessionDB
from ..requires import requires
from .base import LawBase, NewSession, contents, say, stored
from .revision import tame

# Beyond 4 KB in bytes, though not in characters; with what an escape layer must see to.
LARGE = "zebra éé 東京 \ufdd0#0123 \ud800 " * 200
OTHER = "a cat among words " * 400


class LargeTextLaws(LawBase):
    def test_the_same_text_in_many_places_is_read_in_each(self, db: SessionDB, session: NewSession) -> None:
        for name in ("a", "b"):
            say(db, session(name, system_prompt=LARGE), LARGE, "short", OTHER)
        db.append_messages("a", [{"role": "tool", "content": LARGE, "message_key": "k"}, {"role": "user"}])
        assert contents(db, "b") == [LARGE, "short", OTHER]
        assert contents(db, "a") == [LARGE, "short", OTHER, LARGE, None]
        assert (stored(db, "a")["system_prompt"], stored(db, "b")["system_prompt"]) == (LARGE, LARGE)
        assert [turn["content"] for turn in db.get_messages_as_conversation("b")] == [LARGE, "short", OTHER]
        assert db.verify().ok

    def test_it_is_found_and_shown(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), f"{OTHER} needle {OTHER}", "reply")
        (hit,) = db.search_messages("needle")
        assert ">>>needle<<<" in hit["snippet"]
        (reply,) = db.search_messages("reply")
        assert reply["context"][0]["content"].startswith("a cat among")

    def test_the_first_prompt_is_previewed(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), OTHER)
        assert db.list_sessions_rich()[0]["preview"].startswith("a cat among words")

    def test_it_goes_to_the_trash_and_back(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(system_prompt=OTHER), LARGE)
        db.delete_session("s")
        db.restore_deleted("s")
        assert (contents(db, "s"), stored(db, "s")["system_prompt"]) == ([LARGE], OTHER)
        assert db.verify().ok

    def test_one_place_that_goes_leaves_the_others(self, db: SessionDB, session: NewSession) -> None:
        for name in ("a", "b", "c"):
            say(db, session(name, system_prompt=LARGE), LARGE)
        db.delete_session("a", hard=True)
        db.clear_messages("b")
        db.update_system_prompt("b", "short")
        assert (contents(db, "c"), stored(db, "c")["system_prompt"]) == ([LARGE], LARGE)

    def test_a_fork_and_a_copy_have_it(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(system_prompt=OTHER), LARGE)
        forked = db.fork_session("s")
        document = db.export_session("s")
        assert document is not None
        db.delete_session("s", hard=True)
        db.import_sessions([document])
        assert contents(db, forked) == contents(db, "s") == [LARGE]
        assert db.verify().ok

    def test_a_replaced_text_is_the_new_one(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), LARGE, OTHER)
        db.replace_messages("s", [{"role": "user", "content": OTHER}])
        assert contents(db, "s") == [OTHER]

    @requires("revision")
    def test_it_is_changed_where_it_stands(self, db: SessionDB, session: NewSession) -> None:
        for name in ("s", "gone", "kept"):
            say(db, session(name, system_prompt=LARGE), LARGE)
        db.delete_session("gone")
        db.provider.revise("s", [1], tame)
        db.provider.revise_trash(tame)
        db.restore_deleted("gone")
        assert contents(db, "s") == contents(db, "gone") == [LARGE.replace("zebra", "horse")]
        assert contents(db, "kept") == [LARGE]
        assert db.verify().ok

    @requires("shared_bodies")
    def test_a_repeated_large_text_is_stored_once(self, db: SessionDB, session: NewSession) -> None:
        for name in ("a", "b", "c"):
            say(db, session(name, system_prompt=OTHER), OTHER, "short")
        large = db.stats()["large_texts"]
        assert (large["texts"], large["references"], large["text_bytes"]) == (1, 6, 6 * len(OTHER))
        assert large["bytes"] <= len(OTHER)

    @requires("shared_bodies")
    def test_the_last_place_that_goes_takes_the_text_along(self, db: SessionDB, session: NewSession) -> None:
        for name in ("a", "b"):
            say(db, session(name, system_prompt=OTHER), OTHER)
        db.delete_session("a", hard=True)
        db.delete_session("b")
        assert db.stats()["large_texts"]["texts"] == 1
        db.provider.empty_trash(9e9)
        assert db.stats()["large_texts"]["texts"] == 0

    @requires(not_="shared_bodies")
    def test_where_each_is_kept_by_itself_nothing_is_counted(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), OTHER, OTHER)
        assert db.stats()["large_texts"] is None
