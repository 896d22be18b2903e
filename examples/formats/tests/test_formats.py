"""The format through the real commands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LOG = """# chat: holiday plans
2026-05-01T09:00:00Z <ada> Where shall we go?
2026-05-01T09:00:05Z <bot> To the sea.
"""
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`sessiondb` with a store of its own."""

    def command(*words: str, **options: object) -> str:
        call = [sys.executable, "-m", "sessiondb", "--db", str(tmp_path / "store" / "state.db"), *words]
        answer = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60)
        assert answer.returncode == options.get("code", 0), answer.stderr
        return answer.stdout + answer.stderr

    return command


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "plans.chatlog"
    path.parent.mkdir()
    path.write_text(LOG)
    return path


def imported(run: Run, *words: str) -> dict[str, int]:
    [source] = json.loads(run("import", "--json", *words))["sources"]
    return {name: source[name] for name in ("new", "messages", "skipped")}


def test_a_log_comes_in_grows_and_is_found(run: Run, log: Path) -> None:
    assert imported(run, str(log.parent)) == {"new": 1, "messages": 2, "skipped": 0}
    with log.open("a") as file:
        file.write("2026-05-01T09:01:00Z <ada> Marvellous!\nnonsense\n2026-05-01T09:0")
    assert imported(run, "--agent", "chat-log", str(log.parent)) == {"new": 0, "messages": 1, "skipped": 1}
    assert "Marvellous" in run("search", "marvellous")
    assert "holiday plans" in run("list")


def test_what_was_imported_is_exported_as_it_was(run: Run, log: Path, tmp_path: Path) -> None:
    run("import", str(log))
    run("export", str(tmp_path / "again.chatlog"))
    assert (tmp_path / "again.chatlog").read_text() == LOG
    assert run("export", "-", "--format", "chat-log") == LOG


def test_the_help_names_the_format(run: Run) -> None:
    assert "chat-log" in run("export", "--help")
    assert "chat-log" in run("import", "--agent", "nobody", code=2)
