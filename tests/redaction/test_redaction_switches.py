"""Where credentials are left out: in copies for others, not in backups; before storing only when asked."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from made_credentials import positives
from test_scrub import run

import sessiondb
from sessiondb.db import SessionDB
from sessiondb.exporters import base
from sessiondb.models import Filter

TOKEN = positives("github token", 1)[0]
KEY = positives("google key", 1)[0]


def fill(db: SessionDB) -> None:
    db.create_session("s", "cli", system_prompt=f"with {KEY}")
    db.set_session_title("s", f"about {KEY}")
    call = {"id": "c1", "function": {"name": "run", "arguments": json.dumps({"token": TOKEN})}}
    db.append_message("s", "user", f"mine is {TOKEN}")
    db.append_message("s", "assistant", "thanks", tool_calls=[call], reasoning=f"keep {TOKEN}")


@pytest.fixture
def path(fast_path: Path) -> Path:
    with sessiondb.open(fast_path / "state.db", synchronous="NORMAL") as db:
        fill(db)
    return fast_path / "state.db"


@pytest.mark.parametrize("name", [name for name in base.names() if name != "jsonl"])
def test_copies_for_others_have_no_credentials(path: Path, name: str) -> None:
    text = run("export", "-", "--format", name, "--db", str(path)).stdout
    assert text
    assert (TOKEN in text, KEY in text) == (False, False)
    kept = run("export", "-", "--format", name, "--no-redact", "--db", str(path)).stdout
    assert TOKEN in kept or KEY in kept


def test_a_backup_has_everything(path: Path) -> None:
    text = run("export", "-", "--db", str(path)).stdout
    assert text.count(TOKEN) == 3


def test_a_redacted_backup_proves_itself_and_restores(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "clean.jsonl"
    assert run("export", str(file), "--redact", "--db", str(path)).returncode == 0
    assert TOKEN not in file.read_text()
    assert run("verify", str(file)).returncode == 0
    with sessiondb.open("memory://") as db:
        db.import_sessions([json.loads(line) for line in file.read_text().splitlines()])
        assert db.verify().ok
        assert db.get_messages("s")[0]["content"] == "mine is [redacted: github token]"


def test_markdown_says_what_was_there(path: Path) -> None:
    out = io.StringIO()
    with sessiondb.open(path) as db:
        base.exporter("markdown").write(base.conversations(db, Filter(), redact=True), out)
    assert "mine is [redacted: github token]" in out.getvalue()


def test_nothing_is_left_out_of_what_is_stored_by_itself() -> None:
    with sessiondb.open("memory://") as db:
        fill(db)
        assert TOKEN in str(db.export_session("s"))
        assert not db.redacts_on_write


def test_the_config_leaves_credentials_out_before_they_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.yaml").write_text("redact:\n  on_write: true\n")
    monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path))
    monkeypatch.delenv("SESSIONDB_URL", raising=False)
    with sessiondb.open() as db:
        fill(db)
        db.update_system_prompt("s", f"now {KEY}")
        db.update_session("s", metadata={"k": KEY})
        db.append_messages("s", [{"role": "user", "content": [{"type": "text", "text": TOKEN}]}])
        db.merge_messages("s", [{"role": "user", "content": TOKEN, "message_key": "k"}])
        assert db.verify().ok
    everything = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert (TOKEN.encode() in everything, KEY.encode() in everything) == (False, False)


def test_imports_are_cleaned_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("redact:\n  on_write: true\n")
    source = tmp_path / "talk.jsonl"
    source.write_text(json.dumps({"messages": [{"role": "user", "content": f"say {TOKEN}"}]}) + "\n")
    monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path))
    answer = run("import", str(source), "--db", str(tmp_path / "state.db"))
    assert answer.returncode == 0, answer.stderr
    source.unlink()
    everything = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert TOKEN.encode() not in everything


def test_a_wrong_setting_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("redact:\n  on_write: perhaps\n")
    monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path))
    with pytest.raises(sessiondb.Invalid, match=r"redact\.on_write must be true or false"):
        sessiondb.open()
