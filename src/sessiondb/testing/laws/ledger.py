"""The ledger: any copy can prove that it is complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from ... import ledger
from ...db import SessionDB
from ...provider import SessionDBProvider
from .base import LawBase, NewSession, say, stored

Rows: TypeAlias = list[dict[str, Any]]
Edit: TypeAlias = Callable[[Rows], Rows]
Tamper: TypeAlias = Callable[[SessionDBProvider, str, Edit], None]
Damaged: TypeAlias = Callable[[Edit], set[int]]


class LedgerLaws(LawBase):
    def test_the_ledger_is_the_sum_of_the_terms(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), *"abc")
        terms = [row["term"] or 0 for row in db.get_messages("s")]
        assert stored(db, "s")["ledger"] == ledger.total(terms)

    def test_a_term_follows_from_content_and_position(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", "a", tool_calls=[{"id": "c"}], metadata={"b": 1.5}, token_count=3)
        (row,) = db.provider.stored_messages("s")
        assert row["term"] == ledger.term(ledger.digest(row), row["seq"])

    @pytest.mark.parametrize(
        "said",
        [
            {"content": '{"a":1,  "b":[2]}', "content_type": "json"},
            {"content": "x", "timestamp": -0.0},
            {"content": "x", "timestamp": 7},
            {"content": None, "tool_calls": [{"id": "c", "input": {"é": [1.5, None]}}]},
            {"content": 'a "b" \\ \n\t\r\x1b\0 ' * 20},
            {"content": "\ud800\ufdd0" * 40},
            {"content": "漢字" * 40, "reasoning": "\ud800", "finish_reason": "stop", "token_count": 0},
            {"content": [{"type": "text", "text": "é"}], "codex_reasoning_items": [{"a": 1}], "metadata": {"b": 2}},
        ],
    )
    def test_whatever_was_said_verifies(self, db: SessionDB, session: NewSession, said: dict[str, Any]) -> None:
        db.append_messages(session(), [{"role": "assistant", **said}])
        assert db.verify().ok

    def test_the_same_words_elsewhere_have_another_term(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a", "a")
        first, second = db.get_messages("s")
        assert first["term"] != second["term"]

    def test_stored_rows_come_as_stored_hidden_ones_too(self, db: SessionDB, session: NewSession) -> None:
        first, _ = say(db, session(), [{"type": "text", "text": "a"}], "b")
        db.rewind_to_message("s", first)
        rows = list(db.provider.stored_messages("s"))
        assert [(row["content"], row["active"]) for row in rows] == [('[{"type": "text", "text": "a"}]', 1), ("b", 0)]

    def test_an_unknown_session_has_no_stored_rows(self, db: SessionDB) -> None:
        assert list(db.provider.stored_messages("ghost")) == []

    def test_many_stored_rows_come_in_order(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), *(str(number) for number in range(1200)))
        assert [row["seq"] for row in db.provider.stored_messages("s")] == list(range(1, 1201))

    def test_an_honest_store_verifies(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), *"abc")
        say(db, session("b"), *"de")
        report = db.verify()
        assert (report.ok, report.sessions, report.messages, report.not_adopted) == (True, 2, 5, 0)

    def test_one_session_can_be_verified(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), *"abc")
        say(db, session("b"), *"de")
        assert (db.verify("b").sessions, db.verify("b").messages) == (1, 2)

    def test_progress_is_told(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), *"abc")
        say(db, session("b"), *"de")
        ticks: list[int] = []
        db.verify(tick=ticks.append)
        assert sum(ticks) == 5

    def test_the_ledger_survives_a_life_of_changes(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), *"abcdef")
        db.rewind_to_message("a", db.get_messages("a")[2]["id"])
        say(db, "a", "g")
        db.fork_session("a", new_id="b")
        db.replace_messages("a", [{"role": "user", "content": "h"}])
        db.clear_messages("b")
        say(db, "b", "i")
        db.delete_session("a")
        db.restore_deleted("a", new_id="c")
        assert (db.verify().ok, db.verify().messages) == (True, 2)


class TamperLaws(LawBase):
    """Damage done behind the store's back is found.

    The fixture `tamper` gives a function `(provider, session_id, edit)` that puts what `edit` makes of the stored
    message rows in their place and leaves the session's ledger alone; a row with id None is new.
    """

    @pytest.fixture
    def talk(self, db: SessionDB, session: NewSession) -> SessionDB:
        say(db, session("other"), "x", "y")
        say(db, session("talk"), *"abcde")
        return db

    @pytest.fixture
    def damaged(self, talk: SessionDB, tamper: Tamper) -> Damaged:
        def positions(edit: Edit) -> set[int]:
            """Which a verification names, all of one session."""
            tamper(talk.provider, "talk", edit)
            problems = talk.verify().problems
            assert {problem.session_id for problem in problems} == {"talk"}
            return {position for problem in problems for position in problem.positions}

        return positions

    def test_an_untouched_store_verifies(self, talk: SessionDB, tamper: Tamper) -> None:
        tamper(talk.provider, "talk", lambda rows: rows)
        assert talk.verify().ok

    def test_a_removed_message_is_found(self, damaged: Damaged) -> None:
        assert damaged(lambda rows: rows[:2] + rows[3:]) == {3}

    def test_a_removed_last_message_is_found(self, damaged: Damaged) -> None:
        assert damaged(lambda rows: rows[:-1]) == {5}

    def test_all_messages_removed_are_found(self, damaged: Damaged) -> None:
        assert damaged(lambda rows: []) == {1, 2, 3, 4, 5}

    def test_a_doubled_message_is_found(self, damaged: Damaged) -> None:
        assert damaged(lambda rows: [*rows, {**rows[1], "seq": 6, "id": None}]) == {6}

    @pytest.mark.parametrize(
        "change", [{"content": "B"}, {"role": "assistant"}, {"timestamp": 1.0}, {"reasoning": "x"}]
    )
    def test_an_altered_message_is_found(self, damaged: Damaged, change: dict[str, Any]) -> None:
        assert damaged(lambda rows: [rows[0], {**rows[1], **change}, *rows[2:]]) == {2}

    def test_an_altered_message_with_a_forged_term_is_found(self, talk: SessionDB, tamper: Tamper) -> None:
        def forge(rows: Rows) -> Rows:
            forged = {**rows[1], "content": "B"}
            return [rows[0], {**forged, "term": ledger.term(ledger.digest(forged), 2)}, *rows[2:]]

        tamper(talk.provider, "talk", forge)
        assert [problem.kind for problem in talk.verify().problems] == ["ledger"]

    def test_swapped_messages_are_found(self, damaged: Damaged) -> None:
        def swap(rows: Rows) -> Rows:
            return [rows[0], {**rows[2], "seq": 2}, {**rows[1], "seq": 3}, *rows[3:]]

        assert damaged(swap) == {2, 3}

    def test_swapped_messages_with_forged_terms_are_found(self, talk: SessionDB, tamper: Tamper) -> None:
        def swap(rows: Rows) -> Rows:
            second, third = {**rows[2], "seq": 2}, {**rows[1], "seq": 3}
            forged = [{**row, "term": ledger.term(ledger.digest(row), row["seq"])} for row in (second, third)]
            return [rows[0], *forged, *rows[3:]]

        tamper(talk.provider, "talk", swap)
        assert [problem.kind for problem in talk.verify().problems] == ["ledger"]

    def test_hiding_a_message_is_no_damage(self, talk: SessionDB, tamper: Tamper) -> None:
        tamper(talk.provider, "talk", lambda rows: [{**row, "active": 0} for row in rows])
        assert talk.verify().ok
