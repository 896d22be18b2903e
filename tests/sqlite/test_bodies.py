"""Large texts kept once in a file: how they are kept is the store's choice, and what is wrong with them is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from sessiondb import SessionDB, errors, upkeep
from sessiondb.backends.sqlite import bodies, schema

LARGE = "many words, said every morning \u6771\u4eac " * 300
ONCE = "only today " * 800


@pytest.fixture
def path(fast_path: Path) -> Path:
    with SessionDB(fast_path / "state.db", synchronous="NORMAL") as db:
        for name in ("a", "b", "gone"):
            db.create_session(name, "cron", system_prompt=LARGE)
            db.append_messages(name, [{"role": "user", "content": "go"}, {"role": "tool", "content": LARGE}])
        db.append_message("a", "tool", ONCE)
        db.delete_session("gone")
    return fast_path / "state.db"


def answers(path: Path) -> list[object]:
    with SessionDB(path, read_only=True) as db:
        return [db.export_all(), db.list_sessions_rich(), [row["id"] for row in db.list_trash()]]


def large(path: Path) -> dict[str, object]:
    with SessionDB(path, read_only=True) as db:
        found: dict[str, object] = db.stats()["large_texts"]
        return found


def by_hand(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def optimize(path: Path, how: str | None = None) -> None:
    upkeep.of("sqlite").optimize(str(path), large=how)


class TestKept:
    def test_a_new_store_keeps_large_texts_once_and_as_text(self, path: Path) -> None:
        kept = large(path)
        assert (kept["kept"], kept["texts"], kept["references"]) == ("plain", 2, 7)

    def test_every_way_answers_alike(self, path: Path) -> None:
        before = answers(path)
        sizes = {}
        for how in ("zlib", "off", "plain", "off", "zlib", "plain"):
            optimize(path, how)
            assert answers(path) == before
            assert large(path)["kept"] == how
            sizes[how] = large(path)["bytes"]
            with SessionDB(path) as db:
                assert db.verify().ok
                assert db.search_messages("morning", limit=100) != []
        assert int(str(sizes["zlib"])) < int(str(sizes["plain"])) / 3
        assert (large(path)["references"], sizes["off"]) == (7, 0)

    def test_what_is_said_later_is_kept_the_same_way(self, path: Path) -> None:
        optimize(path, "zlib")
        with SessionDB(path) as db:
            db.append_message("b", "user", ONCE + "more")
            assert db.get_messages("b")[-1]["content"] == ONCE + "more"
        connection = apsw.Connection(str(path))
        assert connection.execute("SELECT DISTINCT codec FROM bodies").fetchall() == [("zlib",)]
        connection.close()

    def test_an_unknown_way_is_refused(self, path: Path) -> None:
        with pytest.raises(errors.Invalid, match="lzma"):
            optimize(path, "lzma")

    def test_a_small_text_stays_where_it_was_said(self, path: Path) -> None:
        with SessionDB(path) as db:
            db.append_message("b", "user", "x" * bodies.LARGE_BYTES)
            db.append_message("b", "user", "é" * (bodies.LARGE_BYTES // 2))
        assert large(path)["references"] == 7


class TestOlder:
    def test_a_store_of_the_version_before_keeps_its_way_until_told(self, tmp_path: Path) -> None:
        """Processes of that version may have it open, and would take references for texts."""
        path = tmp_path / "state.db"
        connection = apsw.Connection(str(path))
        connection.execute("PRAGMA journal_mode = WAL")
        for version, statements in schema.migrations():
            for statement in statements if version < 1003 else ():
                connection.execute(statement)
        connection.execute("INSERT INTO schema_version (version) VALUES (1002)")
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1002")
        connection.close()
        with SessionDB(path) as db:
            db.create_session("s", "cli", system_prompt=LARGE)
            db.append_messages("s", [{"role": "user", "content": LARGE}] * 2)
            assert (db.stats()["large_texts"]["kept"], db.stats()["large_texts"]["references"]) == ("off", 0)
        before = answers(path)
        optimize(path, "plain")
        assert (large(path)["texts"], large(path)["references"], answers(path)) == (1, 3, before)

    def test_while_others_have_it_open_it_is_not_begun(self, path: Path) -> None:
        optimize(path, "off")
        hold = "import sys, sessiondb; db = sessiondb.open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
        other = subprocess.Popen(
            [sys.executable, "-c", hold, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "open\n"
            with pytest.raises(errors.Busy, match=str(other.pid)):
                optimize(path, "plain")
        finally:
            other.communicate(timeout=20)
        assert large(path)["references"] == 0


class TestViews:
    QUESTION = "SELECT m.content, s.system_prompt FROM v1_messages m JOIN v1_sessions s ON s.id = m.session_id"

    def seen(self, path: Path) -> set[object]:
        """As another program sees it: no function of ours, no driver of ours."""
        asked = (
            "import sqlite3, json, sys; store = sqlite3.connect(sys.argv[1]);"
            f"print(json.dumps(store.execute({self.QUESTION!r}).fetchall()))"
        )
        done = subprocess.run([sys.executable, "-c", asked, str(path)], capture_output=True, text=True, check=True)
        return {each for row in json.loads(done.stdout) for each in row}

    def test_other_programs_see_texts(self, path: Path) -> None:
        assert self.seen(path) == {"go", LARGE, ONCE}

    def test_and_nothing_where_they_are_compressed(self, path: Path) -> None:
        optimize(path, "zlib")
        assert self.seen(path) == {"go", None}


class TestUnused:
    def test_a_text_that_nothing_refers_to_is_collected(self, path: Path) -> None:
        by_hand(path, f"INSERT INTO bodies VALUES ('{bodies.LEAD}00', 'plain', 5, 'stray')")
        assert large(path)["texts"] == 3
        optimize(path)
        assert large(path)["texts"] == 2


class TestDamage:
    def findings(self, path: Path) -> list[str]:
        found = upkeep.of("sqlite").doctor(str(path)).findings
        return [finding.message for finding in found if finding.severity == "damage"]

    def test_a_missing_text_is_told_and_never_taken_for_another(self, path: Path) -> None:
        by_hand(path, f"DELETE FROM bodies WHERE size = {len(ONCE)}")
        assert any("missing" in message for message in self.findings(path))
        report = upkeep.of("sqlite").verify(str(path))
        assert [(problem.session_id, problem.positions) for problem in report.problems] == [("a", (3,))]
        with SessionDB(path) as db:
            with pytest.raises(errors.Corrupt, match="doctor"):
                db.get_messages("a")
            assert len(db.get_messages("b")) == 2
            db.append_message("a", "user", "it goes on")

    @pytest.mark.parametrize("how", ["plain", "zlib"])
    def test_a_damaged_text_is_told(self, path: Path, how: str) -> None:
        optimize(path, how)
        changed = "'x' || substr(data, 2)" if how == "plain" else "CAST(substr(data, 1, 20) AS BLOB)"
        by_hand(path, f"UPDATE bodies SET data = {changed} WHERE size = {len(ONCE)}")
        assert any("hash" in message for message in self.findings(path))
        assert [problem.session_id for problem in upkeep.of("sqlite").verify(str(path)).problems] == ["a"]

    def test_a_repair_keeps_the_message_and_names_it(self, path: Path, tmp_path: Path) -> None:
        by_hand(path, f"DELETE FROM bodies WHERE size = {len(ONCE)}", "UPDATE bodies SET data = 'y' || data")
        done = upkeep.of("sqlite").repair(str(path), str(tmp_path / "new.db"))
        assert done.altered_messages == {"a": [2, 3], "b": [2]}
        with SessionDB(tmp_path / "new.db") as db:
            assert [row["content"] for row in db.get_messages("a")] == ["go", "y" + LARGE, None]
            assert db.verify().ok
        assert self.findings(tmp_path / "new.db") == []


def test_the_command_changes_how_and_stats_tell(path: Path) -> None:
    def run(*words: str) -> str:
        command = [sys.executable, "-m", "sessiondb", "--db", str(path), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ).stdout

    assert "other programs see NULL" in run("optimize", "--large", "zlib")
    assert json.loads(run("stats", "--json"))["large_texts"]["kept"] == "zlib"
    assert "2 large texts kept for 7 places" in run("stats")
    assert "NULL" not in run("optimize", "--large", "plain")
