"""doctor: a healthy store has no findings, a sick one has sentences with a next step, neither is changed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw
import damaged
import pytest

from sessiondb import upkeep
from sessiondb.db import SessionDB
from sessiondb.errors import NotFound
from sessiondb.upkeep import Diagnosis


def doctor(path: Path) -> Diagnosis:
    return upkeep.of("sqlite").doctor(str(path))


class TestHealthy:
    def test_a_closed_store_has_no_findings(self, talk: Path) -> None:
        diagnosis = doctor(talk)
        assert (diagnosis.findings, diagnosis.damaged) == ([], False)
        assert diagnosis.facts["sessions"] == 2
        assert diagnosis.facts["messages"] == 10
        assert diagnosis.facts["journal_mode"] == "wal"
        assert not diagnosis.facts["in_use"]

    def test_looking_leaves_no_sidecar_behind(self, talk: Path) -> None:
        before = sorted(os.listdir(talk.parent))
        doctor(talk)
        assert sorted(os.listdir(talk.parent)) == before

    def test_an_open_store_is_examined_too(self, talk: Path) -> None:
        with SessionDB(talk) as db:
            db.append_message("a", "user", "more")
            diagnosis = doctor(talk)
            assert diagnosis.findings == []
            assert diagnosis.facts["in_use"]
            assert diagnosis.facts["messages"] == 11
            # The guard and SQLite's locks are still there.
            assert db.health()["guard"]

    def test_a_crashed_store_is_whole_and_stays_as_it_is(self, path: Path) -> None:
        damaged.build(path, checksums=False, sessions=4)
        damaged.crash(path)
        before = {name: (path.parent / name).read_bytes() for name in os.listdir(path.parent)}
        assert doctor(path).findings == []
        assert {name: (path.parent / name).read_bytes() for name in os.listdir(path.parent)} == before

    def test_progress_is_told(self, talk: Path) -> None:
        ticks: list[int] = []
        upkeep.of("sqlite").doctor(str(talk), ticks.append)
        assert sum(ticks) == 10


class TestSick:
    def test_a_missing_store_is_no_finding(self, path: Path) -> None:
        with pytest.raises(NotFound, match="no store"):
            doctor(path)

    def test_a_removed_message_is_named(self, talk: Path) -> None:
        _sql(talk, "DELETE FROM messages WHERE session_id = 'b' AND seq = 3")
        diagnosis = doctor(talk)
        assert diagnosis.damaged
        assert "session b" in diagnosis.findings[0].message
        assert "position 3" in diagnosis.findings[0].message
        assert diagnosis.findings[0].next_step == f"sessiondb repair --db {talk}"

    def test_a_message_without_its_session_is_damage(self, talk: Path) -> None:
        _sql(talk, "PRAGMA foreign_keys = OFF; DELETE FROM sessions WHERE id = 'b'")
        assert any("belong to sessions that are not there" in each.message for each in doctor(talk).findings)

    def test_rows_of_older_code_are_a_note(self, talk: Path) -> None:
        _sql(talk, "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'old', 1.0)")
        diagnosis = doctor(talk)
        assert [(each.severity, diagnosis.damaged) for each in diagnosis.findings] == [("note", False)]

    def test_an_exchanged_file_is_seen(self, talk: Path) -> None:
        other = talk.with_name("other.db")
        SessionDB(other).close()
        shutil.copyfile(other, talk)
        assert any("another store" in each.message for each in doctor(talk).findings)

    def test_an_emptied_file_where_a_store_was_is_damage(self, talk: Path) -> None:
        os.truncate(talk, 0)
        assert doctor(talk).damaged

    def test_an_empty_file_where_none_was_is_a_note(self, path: Path) -> None:
        path.touch(mode=0o600)
        assert [each.severity for each in doctor(path).findings] == ["note"]

    def test_a_foreign_database_is_left_alone(self, path: Path) -> None:
        path.touch(mode=0o600)
        _sql(path, "CREATE TABLE cookies (x)")
        assert [each.area for each in doctor(path).findings] == ["settings"]

    def test_no_database_at_all_is_damage(self, path: Path) -> None:
        path.write_text("not a database, but long enough to have a header " * 10)
        path.chmod(0o600)
        assert doctor(path).damaged

    def test_a_readable_store_is_a_setting(self, talk: Path) -> None:
        talk.chmod(0o644)
        (finding,) = doctor(talk).findings
        assert (finding.area, finding.severity, finding.next_step) == ("settings", "warning", f"chmod 600 {talk}")

    def test_the_newest_backup_is_the_next_step_when_the_wal_is_gone(self, path: Path) -> None:
        damaged.build(path, checksums=False, sessions=4)
        made = upkeep.of("sqlite").backup(str(path))
        damaged.crash(path)
        os.unlink(f"{path}-wal")
        (finding,) = doctor(path).findings
        assert finding.severity == "damage"
        assert finding.next_step == f"sessiondb restore {made.path} --to {path}.restored"

    def test_an_unfinished_last_write_is_no_damage(self, path: Path) -> None:
        damaged.build(path, checksums=False, sessions=4)
        damaged.crash(path)
        wal = Path(f"{path}-wal")
        frame = wal.read_bytes()[-4120:]
        # A process that was killed had written the head of a frame, and not yet its page.
        with wal.open("ab") as file:
            file.write(frame[:24])
        assert doctor(path).findings == []


def _sql(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path), vfs="unix")
    connection.execute(sql)
    connection.close()
