"""Ctrl-C in the middle of a long command: quiet, nothing broken or left behind, and it can be given again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sessiondb

pytestmark = pytest.mark.alone

MOMENTS = 4
INTERRUPTED = 130
COMMANDS = {
    "import": ["import", "history.jsonl"],
    "export": ["export", "out.jsonl"],
    "export html": ["export", "out.html"],
    "verify": ["verify"],
    "backup": ["backup", "copies"],
    "restore": ["restore", "old.bak", "--to", "restored.db"],
    "repair": ["repair", "--output", "repaired.db"],
    "prune": ["prune", "--older-than", "1", "--yes"],
    "optimize": ["optimize", "--reindex"],
}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of some size, a backup of it, and a file to import."""
    place = tmp_path_factory.mktemp("history")
    with sessiondb.open(place / "state.db", synchronous="NORMAL") as db:
        for number in range(150):
            name = f"old-{number}"
            db.create_session(name, "cli", started_at=1_700_000_000.0 + number)
            db.append_messages(name, [{"role": "user", "content": f"words {number} {each} " * 9} for each in range(20)])
            db.end_session(name, "done")
        db.index()
    shutil.copy(place / "state.db", place / "old.bak")
    with (place / "history.jsonl").open("w") as out:
        for number in range(300):
            said = [{"role": "user", "content": f"imported {number} {each}"} for each in range(10)]
            out.write(json.dumps({"id": f"chat-{number}", "messages": said}) + "\n")
    return place


@pytest.fixture
def place(history: Path, home: Path) -> Path:
    shutil.copytree(history, home)
    return home


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_leaves_nothing_broken(
    name: str, place: Path, run: Callable[..., Any], environment: dict[str, str]
) -> None:
    begun = time.monotonic()
    run("--version")
    start = time.monotonic() - begun
    codes = [interrupted(COMMANDS[name], place, environment, start * moment / 2) for moment in range(MOMENTS)]
    assert {code for code, _ in codes} <= {0, INTERRUPTED, -signal.SIGINT}, codes
    assert [said for _, said in codes if "Traceback" in said or "internal error" in said] == []
    left = {path.name for path in place.rglob("*.part*")}
    assert left == set(), f"left behind by Ctrl-C: {left}"
    assert run("verify").code == 0
    make_room(place)
    done = again(COMMANDS[name], place, environment)
    assert done.returncode == 0, done.stderr
    assert run("verify").code == 0


def interrupted(command: list[str], place: Path, environment: dict[str, str], seconds: float) -> tuple[int, str]:
    make_room(place)
    process = subprocess.Popen(
        [sys.executable, "-m", "sessiondb", *command],
        cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_for_command(process)
    time.sleep(seconds)
    if process.poll() is None:
        os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, said.decode(errors="replace")


def wait_for_command(process: subprocess.Popen[bytes]) -> None:
    """Until the interpreter has started and the command is at the store: its driver is loaded."""
    maps = Path(f"/proc/{process.pid}/maps")
    while process.poll() is None and "apsw" not in maps.read_text(errors="replace"):
        time.sleep(0.002)


def make_room(place: Path) -> None:
    """What came to its end before the interrupt may stand in the way."""
    for made in ("restored.db", "repaired.db"):
        (place / made).unlink(missing_ok=True)


def again(command: list[str], place: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sessiondb", *command],
        cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60,
        check=False,
    )  # fmt: skip


IN_A_CALLBACK = """
import time
from sessiondb.cli import main, running

class Callback:
    def __del__(self):
        raise KeyboardInterrupt

def run(arguments):
    del Callback().gone
    time.sleep(60)

Callback.gone = property(fdel=lambda self: None)
running.run = run
main.main()
"""


def test_an_interrupt_that_the_interpreter_throws_away_is_heard() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_A_CALLBACK], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (INTERRUPTED, "")
