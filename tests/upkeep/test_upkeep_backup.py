"""backup and restore: verified before they count, nothing good is lost for them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import apsw
import damaged
import pytest

from sessiondb import upkeep
from sessiondb.backends.sqlite.upkeep import offline
from sessiondb.db import SessionDB
from sessiondb.errors import AlreadyExists, Busy, Corrupt, DiskFull, Invalid, NotFound

keeper = upkeep.of("sqlite")


class TestBackup:
    def test_a_copy_answers_as_the_store_does(self, talk: Path) -> None:
        made = keeper.backup(str(talk))
        assert (made.made, made.sessions, made.messages) == (True, 2, 10)
        assert Path(made.path).parent == Path(f"{talk}.backups")
        assert damaged.answers(Path(made.path)) == damaged.answers(talk)

    def test_it_tells_how_far_it_is(self, talk: Path) -> None:
        pages: list[tuple[int, int]] = []
        checked: list[int] = []
        made = keeper.backup(str(talk), copied=lambda done, of: pages.append((done, of)), tick=checked.append)
        assert pages[-1][0] == pages[-1][1] > 0
        assert sum(checked) == 10
        pages.clear()
        keeper.restore(made.path, str(talk) + ".new", copied=lambda done, of: pages.append((done, of)))
        assert pages[-1][0] == pages[-1][1] > 0

    def test_it_is_one_file_and_private(self, talk: Path) -> None:
        made = Path(keeper.backup(str(talk)).path)
        assert os.listdir(made.parent) == [made.name]
        assert made.stat().st_mode & 0o777 == 0o600

    def test_what_a_crash_left_in_the_wal_is_in_it(self, path: Path) -> None:
        damaged.build(path, checksums=False, sessions=3)
        damaged.crash(path)
        assert keeper.verify(keeper.backup(str(path)).path).sessions == 10

    def test_others_go_on_writing(self, talk: Path) -> None:
        with SessionDB(talk, synchronous="NORMAL") as db:
            stop = threading.Event()
            written: list[int] = []

            def write() -> None:
                while not stop.is_set():
                    written.append(db.append_message("a", "user", "more " * 500))

            writer = threading.Thread(target=write)
            writer.start()
            try:
                made = [keeper.backup(str(talk)) for _ in range(3)]
            finally:
                stop.set()
                writer.join()
            assert [each.made for each in made] == [True] * 3
            assert made[0].messages <= made[2].messages <= 10 + len(written)
            assert all(keeper.verify(each.path).ok for each in made)
            assert db.message_count("a") == 5 + len(written)

    def test_all_are_kept_unless_told_otherwise(self, talk: Path) -> None:
        made = [keeper.backup(str(talk)).path for _ in range(3)]
        assert len(set(made)) == 3
        thinned = keeper.backup(str(talk), keep=2)
        assert thinned.removed == tuple(made[:2])
        assert sorted(os.listdir(f"{talk}.backups")) == sorted(map(os.path.basename, [made[2], thinned.path]))

    def test_every_does_nothing_while_the_newest_is_young(self, talk: Path) -> None:
        first = keeper.backup(str(talk), every=3600.0)
        again = keeper.backup(str(talk), every=3600.0)
        assert (first.made, again.made, again.path) == (True, False, first.path)
        old = time.time() - 7200
        os.utime(first.path, (old, old))
        assert keeper.backup(str(talk), every=3600.0).made

    def test_a_clock_set_back_neither_stops_nor_removes_the_newest(self, talk: Path) -> None:
        first = keeper.backup(str(talk))
        later = first.path.replace("state.db.20", "state.db.21")
        os.rename(first.path, later)
        os.utime(later, (time.time() + 86_400, time.time() + 86_400))
        made = keeper.backup(str(talk), every=3600.0, keep=1)
        assert (made.made, made.removed) == (True, (later,))

    def test_a_damaged_store_gets_no_backup_and_loses_none(self, talk: Path) -> None:
        good = keeper.backup(str(talk))
        _drop_message(talk)
        with pytest.raises(Corrupt, match=r"session a: .*position 2"):
            keeper.backup(str(talk), keep=1)
        assert os.listdir(f"{talk}.backups") == [os.path.basename(good.path)]

    def test_there_must_be_room_before_anything_is_written(self, talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        usage = shutil.disk_usage(talk.parent)
        monkeypatch.setattr(offline.shutil, "disk_usage", lambda _: usage._replace(free=1000))
        with pytest.raises(DiskFull, match="1,000 bytes free"):
            keeper.backup(str(talk))
        assert os.listdir(f"{talk}.backups") == []

    def test_bad_numbers_and_missing_stores_are_refused(self, talk: Path) -> None:
        with pytest.raises(Invalid):
            keeper.backup(str(talk), keep=0)
        with pytest.raises(NotFound):
            keeper.backup(f"{talk}.not-there")

    @pytest.mark.parametrize(("point", "copies"), [("before backup rename", 1), ("after backup rename", 2)])
    def test_killed_around_the_rename_it_is_there_or_not(self, talk: Path, point: str, copies: int) -> None:
        keeper.backup(str(talk))
        code = "import sys; from sessiondb import upkeep; upkeep.of('sqlite').backup(sys.argv[1], keep=1)"
        environment = {**os.environ, "SESSIONDB_KILL_POINT": point}
        done = subprocess.run([sys.executable, "-c", code, str(talk)], env=environment, check=False)
        assert done.returncode == -signal.SIGKILL
        complete = [name for name in os.listdir(f"{talk}.backups") if name.endswith(".bak")]
        assert len(complete) == copies
        assert all(keeper.verify(f"{talk}.backups/{name}").ok for name in complete)
        keeper.backup(str(talk))
        assert not [name for name in os.listdir(f"{talk}.backups") if name.endswith(".part")]


class TestRestore:
    @pytest.fixture
    def saved(self, talk: Path) -> Path:
        return Path(keeper.backup(str(talk)).path)

    def test_into_a_new_file(self, talk: Path, saved: Path) -> None:
        target = talk.with_name("new.db")
        restored = keeper.restore(str(saved), str(target))
        assert (restored.sessions, restored.messages, restored.kept_aside) == (2, 10, None)
        with SessionDB(target) as db:
            assert db.health()["journal_mode"] == "wal"
            db.append_message("a", "user", "goes on")
            assert db.verify().ok

    def test_of_a_directory_the_newest_is_named(self, talk: Path, saved: Path, tmp_path: Path) -> None:
        with pytest.raises(NotFound, match=f"is a directory; .*newest, {saved}"):
            keeper.restore(str(saved.parent), str(talk), over=True)
        with pytest.raises(NotFound, match="is a directory; name a file"):
            keeper.restore(str(tmp_path), str(talk), over=True)

    def test_the_backup_is_not_touched(self, talk: Path, saved: Path) -> None:
        before = saved.read_bytes()
        keeper.restore(str(saved), str(talk.with_name("new.db")))
        assert saved.read_bytes() == before
        assert os.listdir(saved.parent) == [saved.name]

    def test_never_over_a_file_by_accident(self, talk: Path, saved: Path) -> None:
        with pytest.raises(AlreadyExists, match="--over"):
            keeper.restore(str(saved), str(talk))

    def test_over_a_store_what_was_there_is_kept_aside(self, talk: Path, saved: Path) -> None:
        damaged.crash(talk)
        was = damaged.answers(damaged.copy(talk, talk.with_name("was.db")))
        restored = keeper.restore(str(saved), str(talk), over=True)
        assert set(damaged.answers(talk)) == {"a", "b", "trash", "count"}
        assert damaged.answers(Path(restored.kept_aside or "")) == was
        assert not keeper.doctor(str(talk)).findings

    @pytest.mark.parametrize("journal_is_wal", [True, False])
    def test_not_over_a_store_that_somebody_has_open(
        self, talk: Path, saved: Path, journal_is_wal: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not journal_is_wal:
            _use_rollback_journal(talk)
        with _open_elsewhere(talk) as process:
            with pytest.raises(Busy, match=f"process {process.pid}"):
                keeper.restore(str(saved), str(talk), over=True)
            with SessionDB(talk) as db, pytest.raises(Busy):
                keeper.restore(str(saved), str(db.db_path), over=True)
        assert not list(talk.parent.glob("*.part*"))

    def test_a_damaged_backup_is_refused_before_anything_happens(self, talk: Path, saved: Path) -> None:
        _drop_message(saved)
        before = talk.read_bytes()
        with pytest.raises(Corrupt, match="was not restored"):
            keeper.restore(str(saved), str(talk), over=True)
        assert talk.read_bytes() == before

    def test_killed_before_the_rename_the_old_store_is_whole(self, talk: Path, saved: Path) -> None:
        damaged.crash(talk)
        was = damaged.answers(damaged.copy(talk, talk.with_name("was.db")))
        code = "import sys; from sessiondb import upkeep; upkeep.of('sqlite').restore(*sys.argv[1:3], over=True)"
        environment = {**os.environ, "SESSIONDB_KILL_POINT": "before restore rename"}
        done = subprocess.run([sys.executable, "-c", code, saved, talk], env=environment, check=False)
        assert done.returncode == -signal.SIGKILL
        (aside,) = [each for each in talk.parent.glob("*.replaced-*") if not each.name.endswith("-wal")]
        assert damaged.answers(aside) == was


class _open_elsewhere:
    """A process that has the store open and does nothing."""

    def __init__(self, path: Path) -> None:
        code = "import sys; from sessiondb.db import SessionDB; db = SessionDB(sys.argv[1]); print(); input()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def __enter__(self) -> subprocess.Popen[bytes]:
        return self.process

    def __exit__(self, *_: Any) -> None:
        self.process.communicate(b"\n")


def _use_rollback_journal(path: Path) -> None:
    _run(path, "PRAGMA journal_mode = DELETE")


def _drop_message(path: Path) -> None:
    _run(path, "DELETE FROM messages WHERE session_id = 'a' AND seq = 2")


def _run(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path), vfs="unix")
    connection.execute(sql).fetchall()
    connection.close()
