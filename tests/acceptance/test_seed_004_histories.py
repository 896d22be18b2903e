"""Session store and recall: histories in JSON lines come in when somebody asks for it, and can be inspected."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sessiondb import SessionDB

TURNS = [{"role": "user", "content": "why is it 502?"}, {"role": "assistant", "content": "the socket is gone"}]


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    directory = tmp_path / "sessions"
    directory.mkdir()
    lines = [{"role": "session_meta", "platform": "telegram", "timestamp": "2026-01-01T11:00:00+00:00"}]
    lines += [{**turn, "timestamp": "2026-01-01T11:00:01+00:00"} for turn in TURNS]
    for name in ("20260101_110000_bbbbbbbb", "20260102_110000_cccccccc"):
        (directory / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return directory


def run(path: Path, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "sessiondb", "import", "--db", str(path), "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def said(path: Path) -> list[str]:
    with SessionDB(path) as db:
        return [row["content"] for row in db.get_messages("20260101_110000_bbbbbbbb") if row["role"] != "meta"]


def test_jsonl_histories_are_brought_in_when_asked_for(path: Path, histories: Path) -> None:
    SessionDB(path).close()
    assert said(path) == [], "nothing comes in by itself"
    run(path, str(histories))
    assert said(path) == [turn["content"] for turn in TURNS]
    run(path, str(histories))
    assert said(path) == [turn["content"] for turn in TURNS], "asking twice doubles nothing"


def test_status_tells_what_is_in_and_what_is_not(path: Path, histories: Path) -> None:
    run(path, str(histories / "20260101_110000_bbbbbbbb.jsonl"))
    (told,) = run(path, "--status", str(histories))["sources"]
    assert (told["on_disk"], told["imported"], told["changed"]) == (2, 1, 1)
    with SessionDB(path) as db:
        assert db.session_count() == 1, "looking changes nothing"
