"""`sessiondb config`: what is in effect, and why."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiondb import config_twin

Run = Callable[..., Any]


@pytest.fixture
def settings(run: Run) -> Callable[..., dict[str, tuple[Any, str]]]:
    def ask(*arguments: str, **env: str) -> dict[str, tuple[Any, str]]:
        rows = json.loads(run("config", "--json", *arguments, **env).out)["settings"]
        return {row["key"]: (row["value"], row["from"]) for row in rows}

    return ask


def written(home: Path, text: str) -> str:
    home.mkdir()
    (home / "config.yaml").write_text(text)
    return str(home / "config.yaml")


def test_defaults_say_so(settings: Any, home: Path) -> None:
    found = settings()
    assert found["sessiondb.provider"] == ("sqlite", "default")
    assert found["sessiondb.sqlite.path"] == (str(home / "state.db"), "default")
    assert found["display.resume_display"] == ("full", "default")
    assert found["config.yaml"] == (str(home / "config.yaml"), "not there")


def test_every_value_names_its_place(settings: Any, home: Path) -> None:
    file = written(home, "sessiondb:\n  sqlite:\n    deadline: 7\n  retention:\n    cron: 30d\n")
    found = settings("--db", "/srv/x.db")
    assert found["sessiondb.sqlite.deadline"] == (7.0, file)
    assert found["sessiondb.sqlite.path"] == ("/srv/x.db", "argument")
    assert found["sessiondb.retention.cron"] == ("30d", file)
    assert settings(SESSIONDB_URL="/srv/y.db")["sessiondb.provider"] == ("sqlite", "SESSIONDB_URL")


@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",)])
def test_passwords_are_never_shown(run: Run, home: Path, form: tuple[str, ...]) -> None:
    written(
        home, "sessiondb:\n  provider: postgresql\n  postgresql:\n    dsn: postgresql://ann:${SECRET}@db.example/x\n"
    )
    done = run("config", *form, SECRET="hunter2")
    assert done.code == 0
    assert "hunter2" not in done.out + done.err
    assert "postgresql://ann:***@db.example/x" in done.out


def test_the_store_is_neither_opened_nor_made(run: Run, home: Path) -> None:
    assert run("config", "--db", "postgresql://nobody@127.0.0.1:1/x").code == 0
    assert not home.exists()


def test_misspelt_keys_are_told(run: Run, home: Path) -> None:
    written(home, "sessiondb:\n  sqlite:\n    deadlien: 7\n")
    assert "unknown key sessiondb.sqlite.deadlien is ignored" in run("config").err


def test_a_wrong_file_is_one_sentence(run: Run, home: Path) -> None:
    file = written(home, "sessiondb: [\n")
    done = run("config")
    assert (done.code, done.err.startswith(f"sessiondb: {file}, line 2:")) == (2, True)


def test_a_home_that_keeps_no_twin_works(run: Run, home: Path) -> None:
    written(home, "display:\n  resume_display: minimal\n")
    (home / config_twin.NAME).mkdir()
    assert "minimal" in run("config").out
    assert sorted(path.name for path in home.iterdir()) == [config_twin.NAME, "config.yaml"]


def test_commands_read_the_twin_not_the_yaml(run: Run, home: Path, environment: dict[str, str]) -> None:
    written(home, "display:\n  resume_display: minimal\n")
    # Nobody trusts the times of a file that changed just now.
    time.sleep(config_twin.SETTLED / 1e9)
    run("list")
    code = "import sys; from sessiondb.cli.running import run; run(['list']); print('yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines()[-1] == "False"
