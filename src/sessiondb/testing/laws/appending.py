"""Appending: all or nothing, once, and never over what the writer has not seen."""

from __future__ import annotations

from typing import Any

import pytest

from ...db import SessionDB
from ...errors import Conflict, Invalid, NotFound
from .base import LawBase, NewSession, contents, positions, say, stored


def keyed(content: str, key: str) -> dict[str, Any]:
    return {"role": "user", "content": content, "message_key": key}


class BatchLaws(LawBase):
    def test_a_batch_is_stored_in_order(self, db: SessionDB, session: NewSession) -> None:
        ids = say(db, session(), "a", "b", "c")
        assert [row["id"] for row in db.get_messages("s")] == ids
        assert contents(db, "s") == ["a", "b", "c"]

    def test_a_batch_may_be_a_generator(self, db: SessionDB, session: NewSession) -> None:
        db.append_messages(session(), ({"role": "user", "content": text} for text in "ab"))
        assert contents(db, "s") == ["a", "b"]

    def test_an_empty_batch_changes_nothing(self, db: SessionDB, session: NewSession) -> None:
        before = stored(db, session())
        assert db.append_messages("s", []) == []
        assert stored(db, "s") == before

    def test_a_batch_of_1000_messages_keeps_its_order(self, db: SessionDB, session: NewSession) -> None:
        texts = [f"message {number}" for number in range(1000)]
        say(db, session(), *texts)
        assert contents(db, "s") == texts

    @pytest.mark.parametrize(
        "bad",
        [
            {"role": "wizard", "content": "x"},
            {"content": "no role"},
            {"role": "user", "content": 5},
            {"role": "user", "content": "x", "colour": "red"},
            {"role": "user", "content": "x", "token_count": -1},
            {"role": "user", "content": "x", "timestamp": "noon"},
            {"role": "user", "content": [object()]},
            {"role": "user", "media_refs": [{"path": "no kind"}]},
            "not a dict",
        ],
    )
    def test_one_bad_message_keeps_out_the_batch(self, db: SessionDB, session: NewSession, bad: Any) -> None:
        before = stored(db, session())
        with pytest.raises(Invalid):
            db.append_messages("s", [{"role": "user", "content": "good"}, bad, {"role": "user", "content": "good"}])
        assert (db.get_messages("s"), stored(db, "s")) == ([], before)

    def test_a_batch_for_an_unknown_session_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="ghost"):
            say(db, "ghost", "a", "b")
        assert db.message_count() == 0


class KeyLaws(LawBase):
    def test_a_retry_is_the_same_message(self, db: SessionDB, session: NewSession) -> None:
        first = db.append_message(session(), "user", "hello", message_key="k")
        assert db.append_message("s", "user", "hello", message_key="k") == first
        assert contents(db, "s") == ["hello"]

    def test_a_retry_changes_no_counter(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "hello", message_key="k")
        before = stored(db, "s")
        db.append_message("s", "user", "hello", message_key="k")
        assert stored(db, "s") == before

    def test_the_first_content_of_a_key_stays(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "first", message_key="k")
        db.append_message("s", "user", "second", message_key="k")
        assert contents(db, "s") == ["first"]

    def test_a_key_belongs_to_one_session(self, db: SessionDB, session: NewSession) -> None:
        first = db.append_message(session("a"), "user", "hello", message_key="k")
        assert db.append_message(session("b"), "user", "hello", message_key="k") != first

    def test_messages_without_key_are_never_the_same(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "hello")
        say(db, "s", "hello")
        assert contents(db, "s") == ["hello", "hello"]

    @pytest.mark.parametrize("other", ["K", "k ", "ḱ", "k\x00", ""])
    def test_keys_are_compared_exactly(self, db: SessionDB, session: NewSession, other: str) -> None:
        db.append_messages(session(), [keyed("a", "k"), keyed("b", other)])
        assert contents(db, "s") == ["a", "b"]

    def test_a_key_given_twice_in_a_batch_is_stored_once(self, db: SessionDB, session: NewSession) -> None:
        first, second, third = db.append_messages(session(), [keyed("a", "k"), keyed("b", "l"), keyed("a", "k")])
        assert first == third != second
        assert contents(db, "s") == ["a", "b"]

    def test_an_empty_key_is_a_key(self, db: SessionDB, session: NewSession) -> None:
        first = db.append_message(session(), "user", "a", message_key="")
        assert db.append_message("s", "user", "a", message_key="") == first
        assert contents(db, "s") == ["a"]

    def test_a_batch_half_known_stores_the_rest(self, db: SessionDB, session: NewSession) -> None:
        (known,) = db.append_messages(session(), [keyed("a", "k")])
        ids = db.append_messages("s", [keyed("a", "k"), keyed("b", "l")])
        assert (ids[0], contents(db, "s"), positions(db, "s")) == (known, ["a", "b"], [1, 2])

    def test_a_hidden_message_keeps_its_key(self, db: SessionDB, session: NewSession) -> None:
        (anchor, hidden) = db.append_messages(session(), [keyed("a", "k"), keyed("b", "l")])
        db.rewind_to_message("s", anchor)
        assert db.append_messages("s", [keyed("b", "l")]) == [hidden]

    def test_a_cleared_key_can_be_used_again(self, db: SessionDB, session: NewSession) -> None:
        db.append_messages(session(), [keyed("a", "k")])
        db.clear_messages("s")
        db.append_messages("s", [keyed("b", "k")])
        assert contents(db, "s") == ["b"]


class ExpectationLaws(LawBase):
    def test_a_writer_who_saw_everything_may_write(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "a", expected_seq=0)
        db.append_message("s", "user", "b", expected_seq=1)
        assert contents(db, "s") == ["a", "b"]

    @pytest.mark.parametrize("stale", [0, 1, 3])
    def test_a_writer_who_did_not_gets_a_conflict(self, db: SessionDB, session: NewSession, stale: int) -> None:
        say(db, session(), "a", "b")
        before = stored(db, "s")
        with pytest.raises(Conflict, match="s"):
            db.append_messages("s", [{"role": "user", "content": "c"}], expected_seq=stale)
        assert (contents(db, "s"), stored(db, "s")) == (["a", "b"], before)

    def test_a_retry_is_answered_before_the_expectation(self, db: SessionDB, session: NewSession) -> None:
        first = db.append_message(session(), "user", "a", message_key="k", expected_seq=0)
        assert db.append_message("s", "user", "a", message_key="k", expected_seq=0) == first

    def test_a_half_known_batch_still_needs_the_right_position(self, db: SessionDB, session: NewSession) -> None:
        db.append_messages(session(), [keyed("a", "k")], expected_seq=0)
        with pytest.raises(Conflict):
            db.append_messages("s", [keyed("a", "k"), keyed("b", "l")], expected_seq=0)
        assert contents(db, "s") == ["a"]

    def test_positions_once_used_stay_used(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a", "b")
        db.clear_messages("s")
        db.append_message("s", "user", "c", expected_seq=2)
        assert positions(db, "s") == [3]

    def test_an_unknown_session_is_found_missing_first(self, db: SessionDB) -> None:
        with pytest.raises(NotFound):
            db.append_message("ghost", "user", "a", expected_seq=5)
