"""The guard: a stray open and close of the data file costs SQLite its locks, yet the live WAL stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import foreign_visitor
import pytest
from nursery import Nursery

from sessiondb import SessionDB

# Fewer than are written between two checkpoints: those would show what the deleted WAL held.
MORE = 40


def open_by_hand(path: Path) -> None:
    """What programs do to look at a header or a size; all POSIX locks of this process on the file are gone after it."""
    path.open("rb").close()


def visited(path: Path) -> int:
    """What a plain `sqlite3` script sees; its close deletes the WAL when it believes to be alone."""
    command = [sys.executable, foreign_visitor.__file__, str(path)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def seen_by_another(nursery: Nursery, path: Path, into: Path) -> int:
    assert nursery.wait(nursery.start("count", path, into)) == 0, nursery.complaints()
    return int(into.read_text())


def disturbed(db: SessionDB, path: Path) -> None:
    """A first message, a stray open, a visitor, and more messages."""
    db.create_session("a", "cli")
    db.append_message("a", "user", "first")
    open_by_hand(path)
    assert visited(path) == 1
    for number in range(MORE):
        db.append_message("a", "user", str(number))


def test_with_the_guard_everybody_sees_all_messages(path: Path, tmp_path: Path, nursery: Nursery) -> None:
    with SessionDB(path) as db:
        disturbed(db, path)
        assert seen_by_another(nursery, path, tmp_path / "seen") == 1 + MORE
        assert visited(path) == 1 + MORE


def test_without_the_guard_acknowledged_messages_are_invisible(path: Path, tmp_path: Path, nursery: Nursery) -> None:
    with SessionDB(path, guard=False) as db:
        disturbed(db, path)
        assert seen_by_another(nursery, path, tmp_path / "seen") == 1


def test_the_guard_outlives_one_of_two_handles(path: Path, tmp_path: Path, nursery: Nursery) -> None:
    with SessionDB(path) as db:
        SessionDB(path).close()
        SessionDB(path, read_only=True).close()
        disturbed(db, path)
        assert seen_by_another(nursery, path, tmp_path / "seen") == 1 + MORE


def test_a_handle_that_only_reads_is_guarded_too(path: Path, nursery: Nursery) -> None:
    """It would go on reading a WAL that was deleted, and miss what others write."""
    with SessionDB(path) as db:
        db.create_session("a", "cli")
    with SessionDB(path, read_only=True) as reader:
        assert reader.message_count() == 0
        open_by_hand(path)
        assert visited(path) == 0
        assert wal_of(path).exists()
        assert nursery.wait(nursery.start("append", path, "a", 3)) == 0, nursery.complaints()
        assert reader.message_count() == 3


def test_a_reader_keeps_its_locks_when_a_writer_of_the_same_program_closes(path: Path, nursery: Nursery) -> None:
    SessionDB(path).close()
    with SessionDB(path, read_only=True) as reader:
        assert reader.session_count() == 0
        with SessionDB(path) as db:
            db.create_session("a", "cli")
        assert visited(path) == 0
        assert wal_of(path).exists()
        assert nursery.wait(nursery.start("append", path, "a", 3)) == 0, nursery.complaints()
        assert reader.message_count() == 3


def test_the_last_close_tidies_up(path: Path) -> None:
    with SessionDB(path) as db:
        db.create_session("a", "cli")
        assert db.health()["guard"] is True
    assert not wal_of(path).exists()


@pytest.mark.parametrize("guard", [True, False])
def test_health_tells_whether_it_is_held(path: Path, guard: bool) -> None:
    with SessionDB(path, guard=guard) as db:
        assert db.health()["guard"] is guard
