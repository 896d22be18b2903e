"""Older files are upgraded without loss, foreign ones refused and left byte for byte as they are."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import apsw
import pytest
from seed_files import build

from sessiondb import SessionDB, errors
from sessiondb.backends.sqlite import schema

OPEN = "import sys, sessiondb; db = sessiondb.open(sys.argv[1]); print(db.message_count()); db.close()"


def opened(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", OPEN, str(path)]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def shape(path: Path) -> set[tuple[str, str]]:
    connection = apsw.Connection(str(path))
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {(name, row[1]) for name in tables for row in connection.execute(f"PRAGMA table_info({name})")}
    found |= set(connection.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
    connection.close()
    return found


class TestMigrationFiles:
    def test_names_follow_the_grammar_and_numbers_grow(self) -> None:
        folder = resources.files("sessiondb.backends.sqlite") / "migrations"
        names = sorted(path.name for path in folder.iterdir() if path.name.endswith(".sql"))
        assert all(re.fullmatch(r"\d{4}_[a-z_]+\.sql", name) for name in names)
        assert [int(name[:4]) for name in names] == [1, 2, 3, 4, 5, 6, 1001, 1002, 1003]

    def test_the_last_file_is_the_version(self) -> None:
        assert schema.migrations()[-1][0] == schema.VERSION


@pytest.mark.parametrize("version", range(1, 7))
class TestUpgrade:
    def test_conversations_survive(self, tmp_path: Path, version: int) -> None:
        with SessionDB(build(tmp_path / "state.db", version)) as db:
            assert [m["content"] for m in db.get_messages("old")] == [
                "where is nginx.conf",
                None,
                "/etc/nginx/nginx.conf",
            ]
            assert db.get_messages("loose")[0]["content"] == "こんにちは世界"
            assert db.message_count() == 5

    def test_rows_are_adopted_in_order_of_id(self, tmp_path: Path, version: int) -> None:
        with SessionDB(build(tmp_path / "state.db", version)) as db:
            assert [m["seq"] for m in db.get_messages("old")] == [1, 2, 3]
            report = db.verify()
            assert (report.ok, report.not_adopted, report.messages) == (True, 0, 5)

    def test_a_time_that_is_none_stops_nobody(self, tmp_path: Path, version: int) -> None:
        path = build(tmp_path / "state.db", version)
        connection = apsw.Connection(str(path))
        connection.execute("UPDATE messages SET timestamp = 'yesterday' WHERE id IN (1, 2)")
        connection.close()
        with SessionDB(path) as db:
            assert [m["seq"] for m in db.get_messages("old")] == [1, 2, 3]
            assert {row["id"]: row["last_active"] for row in db.search_sessions()}["old"] == 102.0
            assert (db.verify().ok, db.verify().not_adopted) == (True, 0)

    def test_lineage_is_understood(self, tmp_path: Path, version: int) -> None:
        with SessionDB(build(tmp_path / "state.db", version)) as db:
            assert db.get_compression_tip("old") == "next"
            relations = {name: row["relation"] for name in ("next", "helper") if (row := db.get_session(name))}
            assert relations == {"next": "compression", "helper": "subagent"}

    def test_old_conversations_are_found_and_go_on(self, tmp_path: Path, version: int) -> None:
        with SessionDB(build(tmp_path / "state.db", version)) as db:
            db.append_message("loose", "assistant", "やあ")
            assert {hit["session_id"] for hit in db.search_messages("nginx.conf")} == {"old"}
            assert [m["seq"] for m in db.get_messages("loose")] == [1, 2]

    def test_a_verified_backup_lies_beside_it(self, tmp_path: Path, version: int) -> None:
        SessionDB(build(tmp_path / "state.db", version)).close()
        (backup,) = tmp_path.glob("state.db.v*.bak")
        assert f".v{version}-" in backup.name
        copy = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
        assert copy.execute("SELECT COUNT(*) FROM messages").fetchall() == [(5,)]
        assert copy.execute("SELECT version FROM schema_version").fetchall() == [(version,)]
        copy.close()

    def test_the_result_has_the_shape_of_a_new_store(self, tmp_path: Path, version: int) -> None:
        SessionDB(build(tmp_path / "state.db", version)).close()
        SessionDB(tmp_path / "new.db").close()
        assert shape(tmp_path / "state.db") == shape(tmp_path / "new.db")

    def test_columns_ahead_of_the_number_do_no_harm(self, tmp_path: Path, version: int) -> None:
        with SessionDB(build(tmp_path / "state.db", 6, stamp=version)) as db:
            assert db.message_count() == 5

    def test_columns_behind_the_number_are_made_up_for(self, tmp_path: Path, version: int) -> None:
        path = build(tmp_path / "state.db", version, stamp=6)
        with SessionDB(path) as db:
            assert (db.message_count(), db.verify().ok) == (5, True)
        SessionDB(tmp_path / "new.db").close()
        assert shape(path) == shape(tmp_path / "new.db")

    def test_without_leave_to_upgrade_it_is_refused_untouched(self, tmp_path: Path, version: int) -> None:
        path = build(tmp_path / "state.db", version)
        before = fingerprint(path)
        with pytest.raises(errors.SchemaOutdated, match="upgrade=True"):
            SessionDB(path, upgrade=False)
        assert fingerprint(path) == before

    def test_reading_only_never_upgrades(self, tmp_path: Path, version: int) -> None:
        path = build(tmp_path / "state.db", version)
        before = fingerprint(path)
        with pytest.raises(errors.SchemaOutdated, match="read_only"):
            SessionDB(path, read_only=True)
        assert fingerprint(path) == before


@pytest.mark.parametrize("version", [3, 4])
def test_titles_that_two_sessions_have_get_numbers(tmp_path: Path, version: int) -> None:
    """Before version 4 nothing kept two writers from giving the same title."""
    path = build(tmp_path / "state.db", 3, stamp=version)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE sessions SET title = 'deploy'")
    connection.execute("UPDATE sessions SET title = 'deploy #2' WHERE id = 'helper'")
    connection.close()
    with SessionDB(path) as db:
        titles = {name: db.get_session_title(name) for name in ("old", "loose", "next", "helper")}
    assert titles == {"old": "deploy", "helper": "deploy #2", "loose": "deploy #3", "next": "deploy #4"}


class TestOpening:
    def test_opening_again_changes_nothing(self, tmp_path: Path) -> None:
        SessionDB(tmp_path / "state.db").close()
        before = shape(tmp_path / "state.db")
        SessionDB(tmp_path / "state.db").close()
        assert shape(tmp_path / "state.db") == before

    def test_an_empty_file_becomes_a_store(self, tmp_path: Path) -> None:
        (tmp_path / "state.db").touch()
        with SessionDB(tmp_path / "state.db") as db:
            assert db.session_count() == 0

    def test_files_are_private(self, tmp_path: Path) -> None:
        with SessionDB(tmp_path / "deep" / "home" / "state.db") as db:
            db.create_session("a", "cli")
            modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "deep" / "home").iterdir()}
            assert set(modes.values()) == {0o600}
            assert (tmp_path / "deep" / "home").stat().st_mode & 0o777 == 0o700

    def test_a_store_stamped_by_another_program_is_still_ours(self, tmp_path: Path) -> None:
        SessionDB(tmp_path / "state.db").close()
        connection = apsw.Connection(str(tmp_path / "state.db"))
        connection.execute("UPDATE schema_version SET version = 22")
        connection.close()
        with SessionDB(tmp_path / "state.db") as db:
            assert db.session_count() == 0


class TestRefusals:
    def refused(self, path: Path, kind: type[Exception], words: str) -> None:
        before = fingerprint(path)
        with pytest.raises(kind, match=words):
            SessionDB(path)
        assert fingerprint(path) == before

    def test_a_newer_store_of_ours(self, tmp_path: Path) -> None:
        SessionDB(tmp_path / "state.db").close()
        connection = apsw.Connection(str(tmp_path / "state.db"))
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.close()
        self.refused(tmp_path / "state.db", errors.SchemaTooNew, "upgrade sessiondb")

    def test_a_later_version_of_the_original(self, tmp_path: Path) -> None:
        self.refused(build(tmp_path / "state.db", 6, stamp=22), errors.SchemaTooNew, "sessiondb import")

    def test_a_database_of_another_program(self, tmp_path: Path) -> None:
        connection = apsw.Connection(str(tmp_path / "state.db"))
        connection.execute("CREATE TABLE notes (text)")
        connection.close()
        self.refused(tmp_path / "state.db", errors.SchemaTooNew, "another program")

    def test_a_text_file(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("milk, bread\n" * 100)
        self.refused(tmp_path / "notes.txt", errors.Corrupt, "not a database")

    def test_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(errors.Invalid, match="is a directory"):
            SessionDB(tmp_path)

    def test_a_file_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").touch()
        with pytest.raises(errors.SessionDBError, match="not a directory"):
            SessionDB(tmp_path / "notes.txt" / "state.db")

    def test_nothing_to_read(self, tmp_path: Path) -> None:
        with pytest.raises(errors.NotFound, match="no store at"):
            SessionDB(tmp_path / "state.db", read_only=True)
        assert list(tmp_path.iterdir()) == []


class TestCrash:
    @pytest.mark.parametrize("after", [0, 3, 20, 45])
    def test_killed_at_a_step_it_opens_again_and_completes(self, tmp_path: Path, after: int) -> None:
        path = build(tmp_path / "state.db", 3)
        killed = opened(path, SESSIONDB_KILL_POINT="migration step", SESSIONDB_KILL_AFTER=str(after))
        assert killed.returncode == -9
        again = opened(path)
        assert (again.returncode, again.stdout.strip()) == (0, "5"), again.stderr

    @pytest.mark.parametrize("point", ["after upgrade backup", "before migration commit", "after migration commit"])
    def test_killed_around_the_commit_it_opens_again_and_completes(self, tmp_path: Path, point: str) -> None:
        path = build(tmp_path / "state.db", 6)
        assert opened(path, SESSIONDB_KILL_POINT=point).returncode == -9
        again = opened(path)
        assert (again.returncode, again.stdout.strip()) == (0, "5"), again.stderr
        with SessionDB(path) as db:
            assert db.verify().not_adopted == 0

    def test_a_new_store_killed_while_it_is_made_is_made_by_the_next(self, tmp_path: Path) -> None:
        path = tmp_path / "state.db"
        assert opened(path, SESSIONDB_KILL_POINT="before migration commit").returncode == -9
        assert opened(path).stdout.strip() == "0"

    def test_two_processes_upgrade_one_file_and_both_succeed(self, tmp_path: Path) -> None:
        path = build(tmp_path / "state.db", 2)
        command = [sys.executable, "-c", OPEN, str(path)]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        outcomes = [(process.communicate(timeout=60)[0].strip(), process.returncode) for process in both]
        assert outcomes == [("5", 0), ("5", 0)]
        assert len(list(tmp_path.glob("state.db.v*.bak"))) == 1


class TestStart:
    def test_the_look_for_rows_of_older_code_takes_the_same_steps_whatever_the_history(self, tmp_path: Path) -> None:
        with SessionDB(tmp_path / "state.db") as db:
            db.create_session("s", "cli")
            db.append_message("s", "user", "first")
            db.create_session("child", "cli", parent_session_id="s")
            connection = apsw.Connection(str(tmp_path / "state.db"))
            # The first statement of a connection reads the schema too.
            _, before = steps(connection, schema.OLDER_CODE), steps(connection, schema.OLDER_CODE)
            db.append_messages("s", [{"role": "user", "content": f"message {number}"} for number in range(500)])
            for number in range(100):
                db.create_session(f"child-{number}", "cli", parent_session_id="s")
            assert steps(connection, schema.OLDER_CODE) == before
            connection.close()


def steps(connection: apsw.Connection, sql: str) -> int:
    """How many instructions SQLite carries out."""
    taken = 0

    def count() -> bool:
        nonlocal taken
        taken += 1
        return False

    connection.set_progress_handler(count, 1)
    connection.execute(sql).fetchall()
    connection.set_progress_handler(None)
    return taken
