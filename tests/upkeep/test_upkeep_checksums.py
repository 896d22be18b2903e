"""Page checksums: chosen when a file is made, kept for ever, seen by every reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import damaged
import pytest

from sessiondb.backends.sqlite import checksums
from sessiondb.db import SessionDB
from sessiondb.errors import Corrupt, NotSupported


@pytest.fixture
def store(path: Path) -> Path:
    damaged.build(path, checksums=True, sessions=3)
    return path


def test_they_are_off_unless_chosen(talk: Path) -> None:
    with SessionDB(talk) as db:
        assert db.health()["checksums"] is False


def test_a_file_keeps_what_it_was_made_with(store: Path, talk: Path) -> None:
    with SessionDB(store) as db:
        assert db.health()["checksums"] is True


def test_choosing_them_later_changes_nothing(talk: Path) -> None:
    with SessionDB(talk, checksums=True) as db:
        assert db.health()["checksums"] is False


def test_every_connection_writes_them(store: Path) -> None:
    with SessionDB(store) as db:
        db.append_messages("session-01", [{"role": "user", "content": "y" * 2000} for _ in range(50)])
    with SessionDB(store, read_only=True) as db:
        assert db.verify().ok
    data = store.read_bytes()
    at = data.index(b"y" * 1000)
    store.write_bytes(data[:at] + b"z" + data[at + 1 :])
    with SessionDB(store, read_only=True) as db, pytest.raises(Corrupt, match="doctor"):
        db.get_messages("session-01")


def test_a_process_that_knows_nothing_of_them_writes_them_too(store: Path) -> None:
    code = "import sys; from sessiondb.db import SessionDB; SessionDB(sys.argv[1]).append_message(*sys.argv[2:])"
    subprocess.run([sys.executable, "-c", code, str(store), "session-01", "user", "x"], check=True)
    with SessionDB(store) as db:
        assert db.verify().ok


def test_without_their_vfs_the_store_is_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise NotSupported("this store has page checksums, and this apsw lacks their VFS")

    monkeypatch.setattr(checksums, "load", missing)
    with pytest.raises(NotSupported, match="page checksums"):
        SessionDB(store)
