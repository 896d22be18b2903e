"""The example provider, installed as a third party would: found by name, run by the laws."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from installing import EXAMPLES, environment_with, run_its_tests

EXAMPLE = EXAMPLES / "provider"

USE = """
import sessiondb, sys
url = "journal://" + sys.argv[1]
with sessiondb.open(url) as db:
    db.append_message(db.create_session("s", "cli"), "user", "hello")
with sessiondb.open(url) as db:
    print(db.provider.name, db.get_messages("s")[0]["content"], db.db_path)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that has the example installed."""
    return environment_with(EXAMPLE, tmp_path_factory.mktemp("example"))


def test_an_installed_provider_is_opened_by_its_name(installed: dict[str, str], tmp_path: Path) -> None:
    place = tmp_path / "agent.jsonl"
    answer = subprocess.run(
        [sys.executable, "-c", USE, place], env=installed, capture_output=True, text=True, check=True, timeout=60
    )
    assert answer.stdout == f"journal hello {place}\n"


def test_without_it_the_name_is_unknown(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", USE, tmp_path / "x"], capture_output=True, text=True, check=False, timeout=60
    )
    last_line = answer.stderr.splitlines()[-1]
    assert answer.returncode == 1
    assert last_line.startswith("sessiondb.errors.Invalid: unknown")
    assert "journal" in last_line


def test_an_installed_provider_passes_the_laws(installed: dict[str, str], fast_path: Path) -> None:
    run_its_tests(EXAMPLE, installed, fast_path / "laws")
