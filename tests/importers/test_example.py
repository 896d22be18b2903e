"""The example of an importer and an exporter, installed as a third party would: found by name and by their files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from installing import EXAMPLES, environment_with, run_its_tests

EXAMPLE = EXAMPLES / "formats"
USE = """
import sessiondb, sys
with sessiondb.open(sys.argv[1]) as db:
    from sessiondb.importers import known
    from sessiondb.importers.runner import Runner
    from pathlib import Path
    Runner(db).run(known.at_paths([Path(sys.argv[2])], known.chosen(())))
    print(known.names()[0], [row["origin"] for row in db.list_sessions_rich()])
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return environment_with(EXAMPLE, tmp_path_factory.mktemp("example"))


def test_its_own_tests_pass(installed: dict[str, str], fast_path: Path) -> None:
    run_its_tests(EXAMPLE, installed, fast_path / "formats")


def test_it_is_asked_before_our_own(installed: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "a.chatlog").write_text("# chat: a\n2026-05-01T09:00:00Z <ada> hello\n")
    command = [sys.executable, "-c", USE, str(tmp_path / "s.db"), str(tmp_path)]
    answer = subprocess.run(command, env=installed, capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout == "chat-log ['chat-log']\n"


def test_without_it_the_format_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "a.chatlog").write_text("# chat: a\n")
    command = [sys.executable, "-m", "sessiondb", "--db", str(tmp_path / "s.db"), "import", "--agent", "chat-log"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (answer.returncode, "unknown importer 'chat-log'" in answer.stderr) == (2, True)
