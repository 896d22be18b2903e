"""verify: on a store at work, on a backup, on an export."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import damaged
import pytest

from sessiondb import upkeep
from sessiondb.db import SessionDB
from sessiondb.verify import Report, verify, verify_export


class TestExport:
    @pytest.fixture
    def documents(self, talk: Path) -> list[dict[str, Any]]:
        with SessionDB(talk) as db:
            db.append_message("a", "assistant", [{"type": "text", "text": "ä\ud800"}], metadata={"b": 1, "a": "2"})
            db.append_message("a", "assistant", None, tool_calls=[{"id": "1", "function": {"name": "f"}}])
            return [json.loads(json.dumps(document)) for document in db.iter_export()]

    def kinds(self, documents: list[dict[str, Any]]) -> list[tuple[str, str, tuple[int, ...]]]:
        found = verify_export(documents).problems
        return [(problem.session_id, problem.kind, problem.positions) for problem in found]

    def test_as_written_it_is_complete(self, documents: list[dict[str, Any]]) -> None:
        report = verify_export(documents)
        assert (report.ok, report.sessions, report.messages) == (True, 2, 12)

    def test_a_removed_message_is_named(self, documents: list[dict[str, Any]]) -> None:
        del documents[0]["messages"][2]
        assert self.kinds(documents) == [(documents[0]["id"], "ledger", (3,))]

    def test_an_altered_message_is_named(self, documents: list[dict[str, Any]]) -> None:
        documents[1]["messages"][3]["content"] = "never said"
        assert (documents[1]["id"], "altered", (4,)) in self.kinds(documents)

    def test_a_doubled_message_is_named(self, documents: list[dict[str, Any]]) -> None:
        documents[0]["messages"].append(documents[0]["messages"][0])
        assert (documents[0]["id"], "doubled", (1,)) in self.kinds(documents)

    def test_two_swapped_messages_are_named(self, documents: list[dict[str, Any]]) -> None:
        first, second = documents[0]["messages"][:2]
        first["seq"], second["seq"] = 2, 1
        assert (documents[0]["id"], "altered", (2, 1)) in self.kinds(documents)

    def test_what_is_no_session_is_named_by_its_line(self, documents: list[dict[str, Any]]) -> None:
        report = verify_export([*documents, ValueError("line 3 is no JSON"), {"id": "x", "messages": [7]}])  # type: ignore[list-item]
        assert [(problem.session_id, problem.kind) for problem in report.problems] == [
            ("line 3", "unreadable"),
            ("x", "unreadable"),
        ]


class TestLive:
    def test_a_session_that_grows_meanwhile_is_no_problem(self, talk: Path) -> None:
        with SessionDB(talk, synchronous="NORMAL") as db:
            stop = threading.Event()

            def write() -> None:
                while not stop.is_set():
                    db.append_message("a", "user", "more")

            writer = threading.Thread(target=write)
            writer.start()
            try:
                reports = [db.verify() for _ in range(20)]
            finally:
                stop.set()
                writer.join()
            assert all(report.ok for report in reports)
            assert reports[-1].messages > 10

    def test_one_that_was_deleted_meanwhile_is_not_part_of_the_store(self, talk: Path) -> None:
        with SessionDB(talk) as db:

            class Deleting:
                """Deletes a session between two reads."""

                def __getattr__(self, name: str) -> Any:
                    if name == "stored_messages":
                        db.delete_session("a")
                    return getattr(db.provider, name)

            report: Report = verify(Deleting())  # type: ignore[arg-type]
            assert (report.ok, report.sessions) == (True, 1)

    def test_a_last_position_of_billions_is_told_in_time(self, talk: Path) -> None:
        with SessionDB(talk) as db:
            db.provider.driver.write(  # type: ignore[attr-defined]
                lambda tx: tx.run("UPDATE sessions SET last_seq = 1 << 60, ledger = 1 WHERE id = 'a'")
            )
            (problem,) = db.verify().problems
            assert len(problem.positions) == 10_000
            assert "more" in problem.message


def test_a_backup_is_verified_without_touching_it(path: Path) -> None:
    damaged.build(path, checksums=True, sessions=3)
    damaged.crash(path)
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    report: Report = upkeep.of("sqlite").verify(str(path))
    assert (report.ok, report.sessions) == (True, 10)
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before
