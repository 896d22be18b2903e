"""An update without a stop: an old program goes on writing while a new one upgrades the file under it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import acknowledged
import apsw
import frozen_writer
import pytest
from actors import wait_for
from inside import integrity
from scale import scaled
from seed_files import build  # type: ignore[import-not-found]

from conftest import Say
from sessiondb import SessionDB
from sessiondb.backends.sqlite import schema

OLD = scaled(300, 5000)
BEFORE_THE_UPDATE = 50
SEED_MESSAGES = 5


@contextmanager
def old_program(path: Path, acks: Path, session_id: str) -> Iterator[None]:
    """Runs in the body, and to its end."""
    command = [sys.executable, frozen_writer.__file__, str(path), str(acks), session_id, str(OLD)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield
        assert process.wait(120) == 0, process.stderr.read() if process.stderr else ""
    finally:
        process.kill()
        process.communicate()


@pytest.mark.alone
def test_rows_of_both_versions_are_there_adopted_counted_and_found(tmp_path: Path, say: Say) -> None:
    path = build(tmp_path / "state.db", 6)
    with old_program(path, tmp_path, "loose"):
        wait_for(lambda: len(acknowledged.numbers(tmp_path, "loose")) >= BEFORE_THE_UPDATE, "the old program")
        with SessionDB(path) as db:
            at_update = len(acknowledged.numbers(tmp_path, "loose"))
            new = append_beside(db, tmp_path)
        assert at_update < OLD, "the old program ended before the update"
    with SessionDB(path) as db:
        stored = [str(row["content"]) for row in db.get_messages("loose")]
        report = db.verify()
        hits = db.search_messages("frozen", limit=OLD * 2)
        counted = db.message_count("loose"), db.message_count()
    say("hot update", old_rows=OLD, of_them_before=at_update, new_rows=new, lost=0)
    assert [text for text in stored if text.startswith("frozen")] == [f"frozen words {n}" for n in range(OLD)]
    assert [text for text in stored if text.startswith("new")] == [f"new words {n}" for n in range(new)]
    assert (report.problems, report.not_adopted) == ([], 0)
    assert len(hits) == OLD
    assert counted == (1 + OLD + new, SEED_MESSAGES + OLD + new)
    assert integrity(path) == "ok"


def append_beside(db: SessionDB, acks: Path) -> int:
    """Append to the same conversation while the old program does, until it has done two thirds; how many."""
    new = 0
    while len(acknowledged.numbers(acks, "loose")) < OLD * 2 // 3:
        db.append_message("loose", "assistant", f"new words {new}")
        new += 1
    return new


def test_a_row_that_arrives_during_the_backup_does_not_stop_the_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build(tmp_path / "state.db", 6)
    old = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    copy = schema._copy

    def copy_then_insert(*arguments: object) -> object:
        copied = copy(*arguments)  # type: ignore[arg-type]
        frozen_writer.append(old, "loose", "frozen words")
        return copied

    monkeypatch.setattr(schema, "_copy", copy_then_insert)
    with SessionDB(path) as db:
        assert db.get_messages("loose")[-1]["content"] == "frozen words"
    old.close()


def test_a_row_of_the_old_program_waits_for_its_position_and_gets_it(tmp_path: Path) -> None:
    path = build(tmp_path / "state.db", 6)
    with SessionDB(path) as db:
        old = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        frozen_writer.append(old, "loose", "frozen words")
        old.close()
        assert db.get_messages("loose")[-1]["seq"] is None
        assert db.verify().not_adopted == 1
        db.append_message("loose", "assistant", "new words")
        rows = [(row["seq"], row["content"]) for row in db.get_messages("loose")]
        assert rows == [(1, "こんにちは世界"), (2, "frozen words"), (3, "new words")]
        assert db.verify().problems == []


def test_without_adoption_a_row_has_no_position_and_verify_says_so(tmp_path: Path) -> None:
    path = build(tmp_path / "state.db", 6)
    with SessionDB(path) as db:
        old = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        frozen_writer.append(old, "loose", "frozen words")
        old.close()
        report = db.verify()
        assert (report.ok, report.not_adopted) == (True, 1)
