"""Texts changed where they stand: positions, counts and results stay, ledgers follow, nothing old is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ...db import SessionDB
from ...errors import NotFound, NotSupported
from ..requires import requires
from .base import LawBase, NewSession, contents, positions, say, stored

CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"say": "zebra"}'}}


def tame(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Zebras become horses, wherever they are."""
    return {
        name: value.replace("zebra", "horse")
        for name, value in row.items()
        if isinstance(value, str) and "zebra" in value
    }


class RevisionLaws(LawBase):
    @requires("revision")
    def test_changed_messages_keep_their_positions(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a zebra", "a cat", "two zebra")
        assert db.provider.revise("s", [1, 2, 3], tame) == 2
        assert (contents(db, "s"), positions(db, "s")) == (["a horse", "a cat", "two horse"], [1, 2, 3])

    @requires("revision")
    def test_only_the_named_positions_change(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "zebra", "zebra")
        assert db.provider.revise("s", [2, 7], tame) == 1
        assert contents(db, "s") == ["zebra", "horse"]

    @requires("revision")
    def test_ledger_and_counts_stay_true(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", "zebra", tool_calls=[CALL])
        say(db, "s", "zebra", "x")
        db.rewind_to_message("s", db.get_messages("s")[1]["id"])
        before = stored(db, "s")
        db.provider.revise("s", [1, 2, 3], tame)
        after = stored(db, "s")
        assert db.verify().ok
        assert after["ledger"] != before["ledger"]
        assert {**after, "ledger": 0} == {**before, "ledger": 0}

    @requires("revision")
    def test_calls_and_results_follow(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", tool_calls=[CALL])
        db.append_message("s", "tool", "ran zebra", tool_call_id="c1")
        db.provider.revise("s", [1, 2], tame)
        (call,) = db.get_tool_calls("s")
        assert (call["arguments"], call["result_summary"], call["status"]) == (
            '{"say": "horse"}',
            "ran horse",
            "completed",
        )

    @requires("revision")
    def test_media_follow_and_stay_with_their_message(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "zebra", media_refs=[{"kind": "image", "path": "/zebra.png"}])
        db.provider.revise("s", [1], tame)
        (reference,) = db.get_media_refs("s")
        assert (reference["path"], reference["message_id"]) == ("/horse.png", db.get_messages("s")[0]["id"])

    @requires("revision")
    def test_the_old_words_are_found_no_more(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a zebra", "other")
        assert len(db.search_messages("zebra")) == 1
        db.provider.revise("s", [1], tame)
        assert [len(db.search_messages(word)) for word in ("zebra", "horse")] == [0, 1]

    @requires("revision")
    def test_the_order_by_activity_stays(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "zebra")
        say(db, session("b"), "cat")
        db.provider.revise("a", [1], tame)
        assert [row["id"] for row in db.list_sessions_rich(order_by="activity")] == ["b", "a"]

    @requires("revision")
    def test_the_trash_is_changed_and_comes_back_whole(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session("s", system_prompt="be a zebra"), "assistant", "zebra", tool_calls=[CALL])
        db.append_message("s", "tool", "ran zebra", tool_call_id="c1", media_refs=[{"kind": "file", "path": "/zebra"}])
        db.delete_session("s")
        assert db.provider.revise_trash(tame) == 1
        assert db.provider.revise_trash(tame) == 0
        db.restore_deleted("s")
        assert "zebra" not in repr((db.export_session("s"), db.get_tool_calls("s"), db.get_media_refs("s")))
        assert db.get_tool_calls("s")[0]["result_summary"] == "ran horse"
        assert db.verify().ok

    @requires("revision")
    def test_an_unknown_session_is_an_error(self, db: SessionDB) -> None:
        with pytest.raises(NotFound):
            db.provider.revise("ghost", [1], tame)

    @requires(not_="revision")
    def test_a_provider_that_cannot_says_so(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "zebra")
        with pytest.raises(NotSupported):
            db.provider.revise("s", [1], tame)
        with pytest.raises(NotSupported):
            db.provider.revise_trash(tame)
        assert contents(db, "s") == ["zebra"]
