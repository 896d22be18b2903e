"""optimize: space comes back in steps beside writers, or all at once while nobody is there."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import apsw
import damaged
import pytest

from sessiondb import upkeep
from sessiondb.db import SessionDB
from sessiondb.errors import Busy

keeper = upkeep.of("sqlite")


@pytest.fixture
def hollow(path: Path) -> Path:
    """A store that was much larger once."""
    with SessionDB(path, synchronous="NORMAL") as db:
        for name in ("kept", "dropped"):
            db.create_session(name, "cli")
            db.append_messages(name, [{"role": "user", "content": "x" * 3000} for _ in range(400)])
        db.delete_session("dropped", hard=True)
    return path


def test_space_comes_back_in_steps(hollow: Path) -> None:
    steps: list[int] = []
    was = damaged.answers(hollow)
    done = keeper.optimize(str(hollow), tick=steps.append)
    assert len(steps) > 1
    assert done.after < 0.7 * done.before
    assert os.path.getsize(hollow) <= done.after
    assert damaged.answers(hollow) == was
    assert keeper.doctor(str(hollow)).findings == []


def test_beside_a_writer_nothing_is_lost(hollow: Path) -> None:
    with SessionDB(hollow, synchronous="NORMAL") as db:
        written: list[int] = []
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                written.append(db.append_message("kept", "user", "more"))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            keeper.optimize(str(hollow))
        finally:
            stop.set()
            writer.join()
        assert db.message_count("kept") == 400 + len(written)
        assert db.verify().ok


def test_interrupted_it_has_done_what_it_has_done(hollow: Path) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    before = os.path.getsize(hollow)
    with pytest.raises(KeyboardInterrupt):
        keeper.optimize(str(hollow), tick=interrupt)
    assert os.path.getsize(hollow) < before
    assert keeper.doctor(str(hollow)).findings == []
    keeper.optimize(str(hollow))
    assert keeper.doctor(str(hollow)).facts["freelist_count"] == 0


class TestFull:
    def test_the_file_is_written_anew(self, hollow: Path) -> None:
        was = damaged.answers(hollow)
        done = keeper.optimize(str(hollow), full=True)
        assert done.after < 0.7 * done.before
        assert damaged.answers(hollow) == was
        assert keeper.doctor(str(hollow)).facts["journal_mode"] == "wal"
        assert not [name for name in os.listdir(hollow.parent) if "replaced" in name or "part" in name]

    def test_what_a_crash_left_in_the_wal_is_kept(self, hollow: Path) -> None:
        damaged.crash(hollow)
        keeper.optimize(str(hollow), full=True)
        assert "late-5" in damaged.answers(hollow)

    def test_not_while_somebody_has_it_open(self, hollow: Path) -> None:
        with SessionDB(hollow), pytest.raises(Busy, match="optimize it in full"):
            keeper.optimize(str(hollow), full=True)

    def test_checksums_stay(self, path: Path) -> None:
        damaged.build(path, checksums=True, sessions=3)
        keeper.optimize(str(path), full=True)
        with SessionDB(path) as db:
            assert db.health()["checksums"]
            db.append_message("session-01", "user", "goes on")
        assert keeper.doctor(str(path)).findings == []

    def test_a_file_of_older_code_learns_to_shrink_in_steps(self, talk: Path) -> None:
        connection = apsw.Connection(str(talk), vfs="unix")
        connection.execute(
            "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM; PRAGMA journal_mode = WAL"
        ).fetchall()
        connection.close()
        assert "--full" in (keeper.optimize(str(talk)).note or "")
        keeper.optimize(str(talk), full=True)
        assert keeper.optimize(str(talk)).note is None
