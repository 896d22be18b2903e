"""What the README and the pages of docs/ show is what happens."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import sessiondb
from sessiondb import config
from sessiondb.gateway.settings import open_router

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found, f"no {language} in the README"
    return found[1]


def run(directory: Path, *arguments: str) -> str:
    environment = {**os.environ, "SESSIONDB_HOME": str(directory / "home"), "PYTHONIOENCODING": "utf-8"}
    environment.pop("SESSIONDB_URL", None)
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", cwd=directory, env=environment, check=True, timeout=60
    )
    return done.stdout


def without_sizes(text: str) -> str:
    """Sizes and moments differ from run to run."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "…", re.sub(r"[0-9.]+ KB", "… KB", text))


def test_the_python_runs_and_the_commands_answer_as_shown(tmp_path: Path) -> None:
    assert run(tmp_path, "-c", block("python")) == block("text")
    examples = block("console").removeprefix("$ ").split("\n\n$ ")
    for command, _, shown in (example.partition("\n") for example in examples):
        program, *arguments = shlex.split(command)
        assert program == "sessiondb"
        assert without_sizes(run(tmp_path, "-m", "sessiondb", *arguments)) == without_sizes(shown.rstrip() + "\n")


def test_the_configuration_is_understood_completely(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(block("yaml"))
    settings = config.load(env={"SESSIONDB_HOME": str(tmp_path), "HOME": "/home/ann"})
    assert (settings.options["path"], settings.warnings) == ("/home/ann/agents/state.db", ())


@pytest.mark.parametrize("page", PAGES)
def test_every_configuration_shown_is_accepted(tmp_path: Path, page: str) -> None:
    for shown in re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL):
        (tmp_path / "config.yaml").write_text(shown)
        env = dict.fromkeys(re.findall(r"\$\{(\w+)\}", shown), "x")
        env |= {"SESSIONDB_HOME": str(tmp_path), "HOME": str(tmp_path)}
        assert config.load(env=env).warnings == ()
        with sessiondb.open("memory://") as db:
            open_router(db, env=env)


@pytest.mark.parametrize("name", ["README.md", "AGENTS.md", "CHANGELOG.md", *(f"docs/{page}" for page in PAGES)])
def test_links_to_files_lead_somewhere(name: str) -> None:
    path = ROOT / name
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert missing == []
