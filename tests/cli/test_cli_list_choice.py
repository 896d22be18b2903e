"""`sessiondb list` chooses by source, time, tag, directory and state."""

from __future__ import annotations

import json
import time

import pytest

DAY = 86_400.0


@pytest.fixture
def stocked(session, db):
    now = time.time()
    db.create_session("home", "cli", started_at=now - 9 * DAY, cwd="/home/ann/shop/web")
    db.append_message("home", "user", "old", timestamp=now - 9 * DAY)
    db.create_session("other", "telegram", started_at=now - 20 * DAY, cwd="/home/ann/shopping")
    db.append_message("other", "user", "new", timestamp=now - DAY)
    session("filed", "x")
    db.archive_session("filed")
    session("gone", "y", title="thrown away")
    db.delete_session("gone")
    db.tag_session("home", "work")
    return db


@pytest.mark.parametrize(
    ("choice", "found"),
    [
        ([], ["other", "home"]),
        (["--order", "started"], ["home", "other"]),
        (["--since", "7d"], ["other"]),
        (["--until", "7d"], ["home"]),
        (["--tag", "work"], ["home"]),
        (["--tag", "work", "--tag", "play"], []),
        (["--cwd", "/home/ann/shop"], ["home"]),
        (["--cwd", "/home/ann/shop/web/../"], ["home"]),
        (["--source", "cli"], ["home"]),
        (["--source", "cli", "--source", "telegram"], ["other", "home"]),
        (["--archived"], ["filed"]),
        (["--all"], ["filed", "other", "home"]),
        (["--trash"], ["gone"]),
        (["--limit", "1"], ["other"]),
    ],
)
def test_choices(run, stocked, choice: list[str], found: list[str]) -> None:
    done = run("list", *choice, "--jsonl")
    assert [json.loads(line)["id"] for line in done.lines] == found


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (["--tag", "none"], "No sessions match."),
        (["--source", "irc"], "No sessions of source 'irc'."),
        (["--since", "1h", "--source", "cli"], "No sessions match."),
    ],
)
def test_nothing_is_said_in_a_sentence(run, stocked, choice: list[str], sentence: str) -> None:
    assert run("list", *choice).out == sentence + "\n"


def test_an_empty_trash_is_said(run, session) -> None:
    session("a", "x")
    assert run("list", "--trash").out == "The trash is empty.\n"
    assert run("list", "--archived").out == "No archived sessions.\n"
