"""`export --follow`: what is there, then what comes; nothing twice, nothing left out, and the file proves it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.errors import Invalid
from sessiondb.exporters import base
from sessiondb.exporters.following import Following
from sessiondb.models import Filter
from sessiondb.verify import verify_export


@pytest.fixture
def db(fast_path: Path) -> SessionDB:
    db = SessionDB(fast_path / "state.db", synchronous="NORMAL")
    db.create_session("a", "cli")
    db.append_message("a", "user", "one")
    return db


def documents(out: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def following(db: SessionDB, name: str = "jsonl", where: Filter | None = None) -> tuple[Following, io.StringIO]:
    out = io.StringIO()
    found = Following(db, where or Filter(), base.exporter(name), out, redact=name != "jsonl")
    found.first()
    return found, out


def test_messages_come_once_and_in_order(db: SessionDB) -> None:
    found, out = following(db)
    steps = [found.step()]
    for number in range(250):
        db.append_message("a", "user", f"new {number}")
        if number % 50 == 0:
            steps.append(found.step())
    db.create_session("b", "cli")
    db.append_message("b", "user", "other")
    steps.append(found.step())
    said = [row["content"] for each in documents(out) for row in each["messages"] if row["session_id"] == "a"]
    assert said == ["one", *(f"new {number}" for number in range(250))]
    assert (steps[0], sum(steps)) == (0, 251)
    assert found.sessions == 2


def test_the_file_proves_itself_and_restores(db: SessionDB) -> None:
    found, out = following(db)
    for text in ("two", "three"):
        for name in ("a", "b"):
            db.ensure_session(name, "cli")
            db.append_message(name, "user", text)
        found.step()
    report = verify_export(documents(out))
    assert (report.problems, report.sessions, report.messages) == ([], 2, 5)
    with SessionDB("memory://") as other:
        other.import_sessions(documents(out))
        assert [row["content"] for row in other.get_messages("a")] == ["one", "two", "three"]
        assert other.get_session("a")["ledger"] == db.get_session("a")["ledger"]


def test_a_lost_line_shows(db: SessionDB) -> None:
    found, out = following(db)
    for text in ("two", "three"):
        db.append_message("a", "user", text)
        found.step()
    lines = documents(out)
    assert not verify_export([lines[0], lines[2]]).ok


def test_only_what_was_chosen_is_followed(db: SessionDB) -> None:
    found, out = following(db, where=Filter(sources=("cli",)))
    db.create_session("t", "telegram")
    db.append_message("t", "user", "elsewhere")
    assert found.step() == 0
    assert "elsewhere" not in out.getvalue()


def test_traces_go_on_with_the_same_ids(db: SessionDB) -> None:
    db.append_message("a", "assistant", "first")
    found, out = following(db, "otlp")
    db.append_message("a", "user", "again")
    db.append_message("a", "assistant", "second")
    found.step()
    first, then = documents(out)
    ids = [[span["spanId"] for span in each["resourceSpans"][0]["scopeSpans"][0]["spans"]] for each in (first, then)]
    assert ids[0][0] == ids[1][0]
    assert len({*ids[0], *ids[1]}) == 3
    assert "again" in str(then)


def test_a_page_cannot_be_followed(db: SessionDB) -> None:
    with pytest.raises(Invalid, match="jsonl or otlp"):
        following(db, "html")


def test_the_command_writes_until_it_is_stopped(db: SessionDB, tmp_path: Path) -> None:
    file = tmp_path / "live.jsonl"
    command = [sys.executable, "-m", "sessiondb", "export", str(file), "--follow", "--db", str(db.db_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        wait_for(file, "one")
        db.append_message("a", "user", "live")
        wait_for(file, "live")
    finally:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    assert (process.returncode, said) == (0, f"Exported 1 session to {file}.\n")
    assert verify_export([json.loads(line) for line in file.read_text().splitlines()]).ok


def wait_for(file: Path, text: str) -> None:
    deadline = time.monotonic() + 30
    while not (file.exists() and text in file.read_text()):
        assert time.monotonic() < deadline, f"{text!r} did not come"
        time.sleep(0.05)
