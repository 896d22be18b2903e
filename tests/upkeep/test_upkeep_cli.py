"""The commands: what they print, what they answer, and their exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sessiondb.db import SessionDB


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(talk: Path) -> Run:
    """Run a command on the small store."""

    def command(*arguments: str | Path) -> Done:
        line = [sys.executable, "-m", "sessiondb", "--db", str(talk), *map(str, arguments)]
        environment = {**os.environ, "SESSIONDB_HOME": str(talk.parent / "home")}
        done = subprocess.run(line, capture_output=True, text=True, env=environment, check=False, timeout=60)
        return Done(done.returncode, done.stdout, done.stderr)

    return command


@pytest.fixture
def broken(talk: Path) -> Path:
    with SessionDB(talk) as db:
        db.provider.driver.write(  # type: ignore[attr-defined]
            lambda tx: tx.run("DELETE FROM messages WHERE session_id = 'b' AND seq = 3")
        )
    return talk


class TestDoctor:
    def test_a_healthy_store(self, run: Run, talk: Path) -> None:
        done = run("doctor")
        assert (done.code, done.err) == (0, "")
        first, last = done.out.splitlines()
        assert first.startswith(f"{talk}: 2 sessions, 10 messages, ")
        assert last == "Nothing is wrong."

    def test_a_damaged_one_has_a_next_step(self, run: Run, broken: Path) -> None:
        done = run("doctor")
        assert done.code == 6
        assert "damage (data): session b: " in done.out
        assert f"    next: sessiondb repair --db {broken}\n" in done.out

    def test_as_json(self, run: Run, broken: Path) -> None:
        done = run("doctor", "--json")
        told = json.loads(done.out)
        assert (done.code, told["damaged"], told["facts"]["sessions"]) == (6, True, 2)

    def test_no_store(self, run: Run, talk: Path) -> None:
        assert run("doctor", "--db", talk.with_name("none.db")).code == 3


class TestRepair:
    def test_from_doctor_to_a_store_that_works(self, run: Run, broken: Path) -> None:
        done = run("repair", "--output", broken.with_name("new.db"))
        assert done.code == 0
        assert "messages: 9 saved, 1 lost\n" in done.out
        assert "sessions with lost messages: b (position 3)\n" in done.out
        next_step = done.out.splitlines()[-1].removeprefix("    next: sessiondb ").split()
        assert "Restored 2 sessions, 9 messages" in run(*next_step).out
        assert run("verify").code == 0

    def test_as_json(self, run: Run, talk: Path) -> None:
        assert json.loads(run("repair", "--json").out)["complete"] is True


class TestBackupAndRestore:
    def test_there_and_back(self, run: Run, talk: Path) -> None:
        done = run("backup", "--json")
        saved = json.loads(done.out)["path"]
        assert run("verify", saved).out == "2 sessions, 10 messages: all there.\n"
        with SessionDB(talk) as db:
            db.delete_session("a")
        assert "What was there is now" in run("restore", saved, "--over").out
        assert run("verify").out == "2 sessions, 10 messages: all there.\n"

    def test_every_and_keep(self, run: Run, talk: Path) -> None:
        assert "Backed up and verified 2 sessions, 10 messages" in run("backup", talk.with_name("there")).out
        assert "nothing done" in run("backup", talk.with_name("there"), "--every", "1h").out
        assert "Removed " in run("backup", talk.with_name("there"), "--keep", "1").out

    def test_where_to_must_be_said(self, run: Run, talk: Path) -> None:
        assert run("restore", talk).code == 2
        assert run("restore", talk, "--over", "--to", "x").code == 2
        assert run("backup", "--every", "often").code == 2

    def test_a_file_that_exists_is_a_conflict(self, run: Run, talk: Path) -> None:
        assert run("restore", talk, "--to", talk).code == 4


def test_optimize_tells_sizes(run: Run) -> None:
    assert run("optimize").out.endswith(" after.\n")
    assert {"before", "after"} <= set(json.loads(run("optimize", "--full", "--json").out))


def test_the_index_is_built_anew(run: Run, talk: Path) -> None:
    for _ in range(2):
        assert "The search index was built anew: " in run("optimize", "--reindex").out
    assert len(list(talk.parent.glob("*-search-*.db"))) == 1
    with SessionDB(talk) as db:
        assert db.health()["index_lag"] == 0


def test_an_export_is_verified(run: Run, talk: Path) -> None:
    export = talk.with_name("export.jsonl")
    assert run("export", export).code == 0
    assert run("verify", export).out == "2 sessions, 10 messages: all there.\n"
    lines = export.read_text().splitlines()
    export.write_text("\n".join([lines[0].replace("a 3", "a 4").replace("b 3", "b 4"), lines[1], "{broken"]))
    done = run("verify", export)
    assert done.code == 6
    assert "altered or moved: position 4" in done.out
    assert "line 3: cannot be read" in done.out
