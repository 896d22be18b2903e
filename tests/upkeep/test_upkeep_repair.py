"""repair: a new file with all that can be read, the old one byte for byte as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import damaged
import pytest

from sessiondb import upkeep
from sessiondb.db import SessionDB
from sessiondb.errors import Busy, NotFound, SchemaTooNew, SessionDBError
from sessiondb.upkeep import Salvage


def repair(path: Path, target: Path) -> Salvage:
    return upkeep.of("sqlite").repair(str(path), str(target))


@pytest.fixture
def store(path: Path) -> Path:
    damaged.build(path, checksums=False)
    return path


@pytest.fixture
def target(path: Path) -> Path:
    return path.with_name("new.db")


@contextmanager
def read_only(store: Path) -> Iterator[None]:
    store.chmod(0o444)
    store.parent.chmod(0o555)
    try:
        yield
    finally:
        store.parent.chmod(0o700)
        store.chmod(0o600)


@contextmanager
def open_to_all() -> Iterator[Path]:
    # Below pytest's own directories, which are closed to others.
    with TemporaryDirectory(prefix="sessiondb-test-") as directory:
        Path(directory).chmod(0o777)
        yield Path(directory)


LOOKS = """
import os, sys
from sessiondb import upkeep
from sessiondb.backends.sqlite import mounts, schema, worktree
from sessiondb.backends.sqlite.upkeep import offline, repair
from sessiondb.errors import Busy

keeper, (store, target) = upkeep.of("sqlite"), sys.argv[1:]
# Everything of the package is read while that is allowed.
keeper.doctor(store)
schema.migrations()
if os.getuid() == 0:
    os.setuid(65534)
assert not os.access(store, os.W_OK)
try:
    saved = "saved" if keeper.repair(store, target).complete else "lost"
except Busy:
    saved = "refused"
print("in use" if offline.in_use(store) else "free", saved, sep=", ")
"""


def looked_at_by_nobody(store: Path, target: Path) -> str:
    command = [sys.executable, "-c", LOOKS, str(store), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


class TestWhole:
    def test_a_healthy_store_comes_over_whole(self, store: Path, target: Path) -> None:
        salvage = repair(store, target)
        assert salvage.complete
        assert damaged.answers(target) == damaged.answers(store)
        assert upkeep.of("sqlite").doctor(str(target)).findings == []

    def test_what_a_crash_left_in_the_wal_comes_too(self, store: Path, target: Path) -> None:
        damaged.crash(store)
        assert repair(store, target).complete
        assert {f"late-{number}" for number in range(6)} <= set(damaged.answers(target))

    def test_from_where_nobody_may_write(self, store: Path) -> None:
        """A disk mounted read-only, or somebody else's: whoever has it open is seen all the same."""
        with open_to_all() as elsewhere, read_only(store):
            assert looked_at_by_nobody(store, elsewhere / "new.db") == "free, saved"
            with SessionDB(store, read_only=True):
                assert looked_at_by_nobody(store, elsewhere / "new2.db") == "in use, refused"

    def test_checksums_stay(self, path: Path, target: Path) -> None:
        damaged.build(path, checksums=True, sessions=3)
        repair(path, target)
        with SessionDB(target) as db:
            assert db.health()["checksums"]

    def test_the_new_store_works(self, store: Path, target: Path) -> None:
        with SessionDB(store) as db:
            newest = db.append_message("session-01", "user", "before")
        repair(store, target)
        with SessionDB(target) as db:
            assert db.append_message("session-01", "user", "after") > newest
            assert db.restore_deleted("session-03") == "session-03"
            assert db.verify().ok

    def test_it_says_in_the_store_that_it_was_repaired(self, store: Path, target: Path) -> None:
        repair(store, target)
        with SessionDB(target) as db:
            assert json.loads(db.get_meta("repaired") or "{}")["from"] == str(store)

    def test_by_default_it_lies_beside_the_store(self, store: Path) -> None:
        pages: list[tuple[int, int]] = []
        salvage = upkeep.of("sqlite").repair(str(store), None, lambda done, of: pages.append((done, of)))
        assert 0 < pages[-1][0] <= pages[-1][1]
        assert salvage.target.startswith(f"{store}.repaired-")
        assert not list(store.parent.glob("*.part*"))


class TestDamaged:
    def test_a_lost_session_is_made_up_for_its_messages(self, store: Path, target: Path) -> None:
        _zero_leaf(store, b"You are number 5.")
        salvage = repair(store, target)
        assert "session-05" in salvage.placeholders
        with SessionDB(target) as db:
            session = db.get_session("session-05")
            assert session is not None
            assert (session["source"], session["message_count"]) == ("recovered", 8)
            assert db.get_messages("session-05")[0]["content"].startswith("session-05 says 0")

    def test_lost_messages_are_named_by_position(self, store: Path, target: Path) -> None:
        _zero_leaf(store, b"session-04 says 1:")
        salvage = repair(store, target)
        assert 2 in salvage.lost_messages["session-04"]
        lost = sum(map(len, salvage.lost_messages.values()))
        assert {table.table: table.lost for table in salvage.tables}["messages"] == lost
        with SessionDB(target) as db:
            assert db.verify().ok

    def test_an_altered_message_is_kept_and_named(self, store: Path, target: Path) -> None:
        data = store.read_bytes()
        store.write_bytes(data.replace(b"session-04 says 1:", b"session-04 said 1:"))
        salvage = repair(store, target)
        assert salvage.altered_messages == {"session-04": [2]}
        with SessionDB(target) as db:
            assert db.get_messages("session-04")[1]["content"].startswith("session-04 said 1:")
            assert db.verify().ok

    def test_a_message_moved_by_damage_goes_back(self, store: Path, target: Path) -> None:
        data = store.read_bytes()
        at = data.index(b"session-04usersession-04 says 0:")
        store.write_bytes(data[:at] + b"session-99" + data[at + 10 :])
        salvage = repair(store, target)
        assert salvage.complete
        with SessionDB(target) as db:
            assert db.get_session("session-99") is None
            assert db.get_messages("session-04")[0]["content"].startswith("session-04 says 0")

    def test_what_was_deleted_for_good_does_not_come_back(self, store: Path, target: Path) -> None:
        assert b"x" * 500 in store.read_bytes()
        repair(store, target)
        with SessionDB(target) as db:
            assert db.get_session("gone") is None


class TestRefusals:
    def test_an_open_store_is_not_repaired(self, store: Path, target: Path) -> None:
        with SessionDB(store) as db:
            with pytest.raises(Busy, match="repair it"):
                repair(store, target)
            assert db.health()["guard"]
        assert not target.exists()

    def test_an_existing_file_is_not_overwritten(self, store: Path, target: Path) -> None:
        target.write_text("mine")
        with pytest.raises(SessionDBError, match="exists"):
            repair(store, target)
        assert target.read_text() == "mine"

    def test_a_newer_schema_is_left_to_newer_code(self, store: Path, target: Path) -> None:
        _sql(store, "PRAGMA user_version = 2000")
        # One number alone may be damage.
        assert repair(store, target.with_name("damage.db")).complete
        _sql(store, "UPDATE schema_version SET version = 2000")
        with pytest.raises(SchemaTooNew, match="2000"):
            repair(store, target)
        assert not list(store.parent.glob("new.db*"))

    def test_there_must_be_something(self, path: Path, target: Path) -> None:
        with pytest.raises(NotFound):
            repair(path, target)


def test_a_file_of_the_original_is_salvaged_too(path: Path, target: Path) -> None:
    _sql(
        path,
        """
        CREATE TABLE schema_version (version INTEGER NOT NULL);
        INSERT INTO schema_version VALUES (6);
        CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, title TEXT, started_at REAL NOT NULL);
        CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
            timestamp REAL NOT NULL, content TEXT);
        INSERT INTO sessions VALUES ('old', 'cli', 'Old', 100);
        INSERT INTO messages (session_id, role, timestamp, content) VALUES ('old', 'user', 101, 'hello');
    """,
    )
    repair(path, target)
    with SessionDB(target) as db:
        assert [row["content"] for row in db.get_messages("old")] == ["hello"]
        assert db.get_session_title("old") == "Old"
        assert db.verify().ok


def _sql(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path), vfs="unix")
    connection.execute(sql)
    connection.close()


def _zero_leaf(path: Path, text: bytes) -> None:
    data = bytearray(path.read_bytes())
    page = data.index(text) // 4096
    data[page * 4096 : (page + 1) * 4096] = bytes(4096)
    path.write_bytes(data)
