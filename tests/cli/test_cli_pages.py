"""docs/commands/ is the help of the commands, and every example there runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sessiondb
from chat_endpoint import ChatEndpoint

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs" / "commands").glob("*.md") if page.name != "README.md")
HISTORIES = ROOT / "tests" / "importers" / "fixtures"
BACKUP = "state.db.20250305-091523.bak"


def examples(page: Path) -> list[str]:
    found = re.search(r"Example:\n((?:      .*\n)+)", page.read_text("utf-8"))
    assert found, f"{page.name} shows no example"
    return [line.strip() for line in found[1].splitlines()]


ALL = [pytest.param(page.stem, line, id=line) for page in PAGES for line in examples(page)]


def test_the_pages_are_current() -> None:
    tool = [sys.executable, str(ROOT / "tools" / "command_pages.py"), "--check"]
    done = subprocess.run(tool, capture_output=True, text=True, env=os.environ | {"COLUMNS": "80"}, check=False)
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sessions that the examples speak of."""
    home = tmp_path_factory.mktemp("stocked")
    with sessiondb.open(home / "state.db", synchronous="NORMAL") as db:
        for name, source, title, text in (
            ("20250304_101500_bbbbbbbb", "telegram", "staging", "we moved staging to port 8443, out of memory"),
            ("20250303_101500_cccccccc", "cli", "nginx 502", "nginx answers 502 after rm -rf"),
            ("20250305_091523_a1b2c3d4", "cli", "refactoring auth", "Help me refactor the auth module please"),
        ):
            db.create_session(name, source)
            db.append_message(name, "user", text)
            db.append_message(name, "assistant", "Of course.")
            db.set_session_title(name, title)
    return home


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as server:
        yield server


@pytest.fixture
def place(stocked: Path, tmp_path: Path, endpoint: ChatEndpoint) -> Path:
    """A working directory with a copy of that home, a model, a backup and an executable path."""
    shutil.copytree(stocked, tmp_path / "home")
    endpoint.configure(tmp_path / "home")
    shutil.copy(stocked / "state.db", tmp_path / BACKUP)
    (tmp_path / "home" / ".config" / "fish" / "completions").mkdir(parents=True)
    shutil.copytree(HISTORIES / "claude-code", tmp_path / "home" / ".claude" / "projects")
    shutil.copytree(HISTORIES / "codex", tmp_path / "old-laptop" / ".codex")
    (tmp_path / "backup.jsonl").write_text('{"format": "sessiondb/1", "id": "a", "source": "cli", "started_at": 1.0}\n')
    return tmp_path


@pytest.mark.parametrize(("name", "line"), ALL)
def test_every_example_runs(place: Path, name: str, line: str) -> None:
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(place / "home"),
        "SESSIONDB_HOME": str(place / "home"),
        "LANG": "C.UTF-8",
    }
    preparation = "sessiondb delete 20250305_091523_a1b2c3d4 --yes > /dev/null; " if name == "undelete" else ""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", preparation + line],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
