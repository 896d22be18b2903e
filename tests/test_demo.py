"""`sessiondb demo` and `make demo` show what they promise, and touch nothing of the person who looks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sessiondb

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"
SHOWN = (
    "nginx 502 #2 ",
    "yesterday ",
    "/>>>etc/nginx/nginx.conf<<< test is successful",
    ">>>天气<<<",
    "◆ Run: systemctl restart app",
    "cd /home/ann/shop && claude --resume 5f0c2d1e-7a41-4c53-9a43-d1f6c2b7a905",
    "Last 30 days",
    "Calendar",
    "Total sessions: ",
    "messages: all there.",
)


def run(directory: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """With a configuration of the person's own that cannot even be read."""
    own = directory / "own"
    own.mkdir(exist_ok=True)
    (own / "config.yaml").write_text("sessiondb: [")
    environment = {
        **os.environ,
        "TMPDIR": str(directory),
        "HOME": str(directory / "home"),
        "SESSIONDB_URL": "oracle://not-used",
        "SESSIONDB_HOME": str(own),
    }
    return subprocess.run(
        [sys.executable, *command], capture_output=True, encoding="utf-8", env=environment, check=False, timeout=120
    )


def left(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


@pytest.mark.parametrize("command", [(str(DEMO),), ("-m", "sessiondb", "demo")])
def test_the_demo_writes_lists_searches_resumes_and_counts(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run(tmp_path, *command)
    assert (done.returncode, done.stderr) == (0, "")
    for expected in SHOWN:
        assert expected in done.stdout
    assert left(tmp_path) == ["own", "own/config.yaml"]


def test_a_demo_that_is_kept_can_be_looked_at(tmp_path: Path) -> None:
    kept = tmp_path / "play ground"
    done = run(tmp_path, "-m", "sessiondb", "demo", "--keep", str(kept))
    assert done.stdout.endswith(f"To look around: export SESSIONDB_HOME='{kept}'\n")
    with sessiondb.open(kept / "state.db", read_only=True) as db:
        assert db.resolve_session_by_title("refactoring auth")
        assert db.verify().ok
    assert [path for path in left(tmp_path) if not path.startswith("play ground")] == ["own", "own/config.yaml"]


def test_a_directory_that_exists_is_never_written_to(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "sessiondb", "demo", "--keep", str(tmp_path))
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == f"sessiondb: {tmp_path} exists; give --keep a directory that does not\n"
    assert left(tmp_path) == ["own", "own/config.yaml"]
