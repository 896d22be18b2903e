"""Session store and recall, at the terminal: what is asked and answered is stored, and commands look back at it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sessiondb
from chat_endpoint import ChatEndpoint
from sessiondb import SessionDB


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with ChatEndpoint() as endpoint:
        endpoint.configure(tmp_path)
        yield tmp_path


def chat(home: Path, *lines: str) -> list[str]:
    """What `sessiondb chat` prints when these lines are typed into it."""
    done = subprocess.run(
        [sys.executable, "-m", "sessiondb", "chat"],
        input="".join(f"{line}\n" for line in lines),
        env={"PATH": os.environ["PATH"], "HOME": str(home), "SESSIONDB_HOME": str(home)},
        capture_output=True, encoding="utf-8", check=True, timeout=60,
    )  # fmt: skip
    return done.stdout.splitlines()


def said(db: SessionDB, session_id: str) -> list[tuple[str, object]]:
    return [(row["role"], row["content"]) for row in db.get_messages(session_id)]


def test_cli_writes_what_is_asked_and_answered(home: Path) -> None:
    assert chat(home, "where is nginx.conf?") == ["An answer"]
    with sessiondb.open(home / "state.db") as db:
        session = db.search_sessions()[0]
        assert session["source"] == "cli"
        assert said(db, session["id"]) == [("user", "where is nginx.conf?"), ("assistant", "An answer")]


def test_new_archives_and_keeps_the_store_consistent(home: Path) -> None:
    chat(home, "one", "/new", "two")
    with sessiondb.open(home / "state.db") as db:
        new, old = db.search_sessions()
        assert (old["archived_at"] is not None, new["archived_at"]) == (True, None)
        assert said(db, old["id"]) == [("user", "one"), ("assistant", "An answer")]
        assert said(db, new["id"]) == [("user", "two"), ("assistant", "An answer")]
        assert [hit["session_id"] for hit in db.search_messages("one")] == [old["id"]]
        assert db.verify().ok


def test_history_and_sessions_are_commands(home: Path) -> None:
    shown = chat(home, "the frobnicator is in /opt/frob", "/history frobnicator", "/sessions")
    assert "  user: the frobnicator is in /opt/frob" in shown
    assert any(line.startswith("* ") for line in shown)


def test_search_is_not_changed_silently(home: Path) -> None:
    """Unless config.yaml says otherwise, /search is what the host makes of it: here, words for the model."""
    assert chat(home, "/search frobnicator") == ["An answer"]
    with (home / "config.yaml").open("a") as config:
        config.write("chat: {search_command: history}\n")
    assert chat(home, "/search nothing-like-it") == [
        "Nothing was said about 'nothing-like-it'; other words may have been used."
    ]
