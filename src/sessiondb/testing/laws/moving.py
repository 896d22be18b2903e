"""Sessions leave one store and enter another, in parts, exactly as they were."""

from __future__ import annotations

from typing import Any

import pytest

from ...db import SessionDB
from ...errors import Conflict
from ...moving import Part
from .base import LawBase, NewSession, contents, positions, say, stored, titled

CALL = {"id": "c1", "function": {"name": "read_file", "arguments": "{}"}}


def part(db: SessionDB, session_id: str = "s", after: int = 0, limit: int = 1000) -> Part:
    found = db.provider.read_part(session_id, after, limit)
    assert found is not None
    return found


def moved(here: SessionDB, there: SessionDB, session_id: str = "s", limit: int = 1000) -> None:
    """A session, in as many parts as it takes."""
    after, complete = 0, False
    while not complete:
        some = part(here, session_id, after, limit)
        there.provider.load([some])
        after, complete = some.last_seq, some.complete


def proof(db: SessionDB, session_id: str = "s") -> tuple[Any, ...]:
    row = stored(db, session_id)
    return row["last_seq"], row["ledger"], row["message_count"], row["tool_call_count"], row["last_active"]


class CatalogueLaws(LawBase):
    def test_every_session_is_told_once(self, db: SessionDB, session: NewSession) -> None:
        for name in "abc":
            say(db, session(name), "x")
        found = {entry.id: entry for entry in db.provider.catalogue()}
        assert sorted(found) == ["a", "b", "c"]
        row = stored(db, "b")
        assert (found["b"].last_seq, found["b"].ledger, found["b"].message_count) == (1, row["ledger"], 1)

    def test_sessions_are_read_together_as_they_are_alone(self, db: SessionDB, session: NewSession) -> None:
        for name in ("s", "t"):
            db.append_messages(session(name), [{"role": "user", "content": f"{name} {each}"} for each in range(3)])
        together = db.provider.stored_together(["s", "t"])
        assert together == {name: list(db.provider.stored_messages(name)) for name in ("s", "t")}

    def test_the_ledger_at_the_end_is_the_sessions(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a", "b", "c")
        assert db.provider.ledger_at("s", 3) == stored(db, "s")["ledger"]

    def test_the_ledger_at_an_earlier_position_is_what_it_was_then(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a", "b")
        then = stored(db, "s")["ledger"]
        say(db, "s", "c")
        assert (db.provider.ledger_at("s", 2), db.provider.ledger_at("s", 0)) == (then, 0)

    def test_an_unknown_session_has_no_part(self, db: SessionDB) -> None:
        assert db.provider.read_part("ghost") is None


class LoadLaws(LawBase):
    @pytest.mark.parametrize("limit", [1, 2, 3, 1000])
    def test_a_moved_session_has_the_same_proof(
        self, db: SessionDB, other_db: SessionDB, session: NewSession, limit: int
    ) -> None:
        say(db, session(), *"abcdef")
        moved(db, other_db, limit=limit)
        assert proof(other_db) == proof(db)
        assert contents(other_db, "s") == list("abcdef")
        assert other_db.verify().ok

    def test_hidden_rows_keys_and_gaps_come_along(
        self, db: SessionDB, other_db: SessionDB, session: NewSession
    ) -> None:
        say(db, session(), "gone", "gone too")
        db.clear_messages("s")
        db.append_message("s", "user", "kept", message_key="k")
        say(db, "s", "hidden")
        db.rewind_to_message("s", db.get_messages("s")[0]["id"])
        moved(db, other_db)
        assert proof(other_db) == proof(db)
        assert positions(other_db, "s", include_inactive=True) == [3, 4]
        assert other_db.append_message("s", "user", "kept", message_key="k") == other_db.get_messages("s")[0]["id"]

    def test_positions_go_on_after_the_last_that_was_used(
        self, db: SessionDB, other_db: SessionDB, session: NewSession
    ) -> None:
        say(db, session(), "a", "b")
        db.clear_messages("s")
        moved(db, other_db)
        say(other_db, "s", "c")
        assert positions(other_db, "s") == [3]

    def test_tool_calls_media_tags_and_facts_come_along(
        self, db: SessionDB, other_db: SessionDB, session: NewSession
    ) -> None:
        titled(db, "s", "deploy", model="m", cwd="/a")
        db.append_message("s", "assistant", tool_calls=[CALL])
        db.append_message("s", "tool", "done", tool_call_id="c1", tool_name="read_file")
        db.append_message("s", "user", "look", media_refs=[{"kind": "image", "path": "/p.png"}])
        db.tag_session("s", "work", "home")
        db.end_session("s", "done")
        moved(db, other_db)
        (call,) = other_db.get_tool_calls("s")
        (media,) = other_db.get_media_refs("s")
        assert (call["status"], call["result_summary"], media["path"]) == ("completed", "done", "/p.png")
        assert call["message_id"] == other_db.get_messages("s")[0]["id"]
        assert media["message_id"] == other_db.get_messages("s")[2]["id"]
        assert other_db.get_tags("s") == ["home", "work"]
        row = stored(other_db, "s")
        assert (row["title"], row["model"], row["cwd"], row["end_reason"]) == ("deploy", "m", "/a", "done")
        assert proof(other_db) == proof(db)

    def test_several_sessions_enter_at_once(self, db: SessionDB, other_db: SessionDB, session: NewSession) -> None:
        for name in "abc":
            say(db, session(name), name, name + "2")
        other_db.provider.load([part(db, name) for name in "abc"])
        assert [contents(other_db, name) for name in "abc"] == [["a", "a2"], ["b", "b2"], ["c", "c2"]]

    def test_the_last_to_enter_is_the_last_active(
        self, db: SessionDB, other_db: SessionDB, session: NewSession
    ) -> None:
        for name in "ab":
            say(db, session(name), name)
        other_db.provider.load([part(db, "b"), part(db, "a")])
        assert [row["id"] for row in other_db.list_sessions_rich(order_by="activity")] == ["a", "b"]

    def test_what_was_loaded_is_found(self, db: SessionDB, other_db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a needle", "漢字")
        moved(db, other_db)
        assert [hit["session_id"] for hit in other_db.search_messages("needle")] == ["s"]
        assert len(other_db.search_messages("漢字")) == 1

    def test_many_rows_enter_in_order(self, db: SessionDB, other_db: SessionDB, session: NewSession) -> None:
        say(db, session(), *(f"row {number} \ud800\0" for number in range(120)))
        moved(db, other_db)
        assert contents(other_db, "s") == contents(db, "s")
        ids = [row["id"] for row in other_db.get_messages("s")]
        assert ids == sorted(ids)

    def test_a_part_that_was_loaded_is_refused(self, db: SessionDB, other_db: SessionDB, session: NewSession) -> None:
        say(db, session(), *"abcd")
        first, second = part(db, limit=2), part(db, after=2)
        other_db.provider.load([first])
        with pytest.raises(Conflict):
            other_db.provider.load([first])
        other_db.provider.load([second])
        with pytest.raises(Conflict):
            other_db.provider.load([second])
        assert contents(other_db, "s") == list("abcd")

    def test_a_part_does_not_follow_what_it_does_not_know(
        self, db: SessionDB, other_db: SessionDB, session: NewSession
    ) -> None:
        say(db, session(), *"abcd")
        other_db.provider.load([part(db, limit=2)])
        say(other_db, "s", "meanwhile")
        with pytest.raises(Conflict, match="position 3"):
            other_db.provider.load([part(db, after=2)])

    def test_a_refused_load_leaves_nothing(self, db: SessionDB, other_db: SessionDB, session: NewSession) -> None:
        for name in "ab":
            say(db, session(name), name)
        other_db.provider.load([part(db, "a")])
        with pytest.raises(Conflict):
            other_db.provider.load([part(db, "b"), part(db, "a")])
        assert (stored(other_db, "a")["message_count"], other_db.get_session("b")) == (1, None)

    def test_half_a_session_is_a_sound_one(self, db: SessionDB, other_db: SessionDB, session: NewSession) -> None:
        say(db, session(), *"abcd")
        other_db.provider.load([part(db, limit=2)])
        assert other_db.verify().ok
        assert (stored(other_db, "s")["message_count"], positions(other_db, "s")) == (2, [1, 2])

    def test_a_taken_title_gets_a_number(self, db: SessionDB, other_db: SessionDB, session: NewSession) -> None:
        titled(db, "s", "deploy")
        titled(other_db, "t", "deploy")
        renamed = other_db.provider.load([part(db)])
        assert renamed == {"s": "deploy #2"}
        assert stored(other_db, "s")["title"] == "deploy #2"

    def test_a_row_left_out_leaves_a_gap(self, db: SessionDB, other_db: SessionDB, session: NewSession) -> None:
        say(db, session(), *"abc")
        whole = part(db)
        other_db.provider.load([whole.without([whole.rows[1]])])
        assert (positions(other_db, "s"), other_db.verify().ok) == ([1, 3], True)
