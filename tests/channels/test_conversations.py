"""A conversation on each channel, with gateways that die and stop in the middle, and messages delivered again."""

from __future__ import annotations

from pathlib import Path

import pytest
from gateways import Gateway, configure, logged, said, sessions, until
from model_server import ModelServer
from platforms import SECRET, TOKEN, Platform

from sessiondb import SessionDB


def ask(platform: Platform, number: int, text: str) -> None:
    """Deliver until it is taken, as platforms do, and wait for the answer."""
    until(lambda: platform.say(number, text) == 200, f"{text} is taken")
    until(lambda: f"answer to {text}" in platform.heard(), f"the answer to {text}; {platform.heard()}")


def command(platform: Platform, number: int, text: str) -> str:
    before = len(platform.heard())
    until(lambda: platform.say(number, text) == 200, f"{text} is taken")
    until(lambda: len(platform.heard()) > before, f"an answer to {text}")
    return platform.heard()[before]


def records(home: Path) -> list[str]:
    return [row["content"] for rows in sessions(home) for row in rows if row["role"] == "session_meta"]


def test_nothing_is_lost_or_doubled(platform: Platform, model: ModelServer, home: Path) -> None:
    configure(home, model.url, {platform.name: platform.config()})
    with Gateway(home) as first:
        platform.gateway = first.url
        ask(platform, 1, "question one")
        until(lambda: "[delivered]" in records(home), "the record of the delivery")
        first.kill()
    with Gateway(home) as second:
        platform.gateway = second.url
        platform.say(1, "question one")
        ask(platform, 2, "question two")
        assert "my project" in command(platform, 3, "/title my project")
        command(platform, 4, "/new")
        ask(platform, 5, "question three")
        for number, text in ((2, "question two"), (4, "/new"), (5, "question three")):
            platform.say(number, text)
        assert second.stop() == 0
    with Gateway(home) as third:
        platform.gateway = third.url
        platform.say(5, "question three")
        ask(platform, 6, "question four")
        assert third.stop() == 0
    questions = ["question one", "question two", "question three", "question four"]
    answers = [f"answer to {each}" for each in questions]
    assert said(home, "user") == questions
    assert said(home, "assistant") == answers
    assert [text for text in platform.heard() if text.startswith("answer")] == answers
    before, after = sessions(home)
    assert [row["content"] for row in before if row["role"] == "user"] == questions[:2]
    assert [row["content"] for row in after if row["role"] == "user"] == questions[2:]
    archived = home / "sessions" / "archive" / f"{before[0]['session_id']}.jsonl"
    assert "answer to question two" in archived.read_text()


def test_an_export_arrives_as_a_file_and_none_is_left_behind(
    platform: Platform, model: ModelServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(home, model.url, {platform.name: platform.config()})
    (home / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(home / "tmp"))
    with Gateway(home) as gateway:
        platform.gateway = gateway.url
        ask(platform, 1, "question one")
        command(platform, 2, "/export")
        until(lambda: platform.received, "a file")
        assert gateway.stop() == 0
    ((name, data),) = platform.received.items()
    assert name.endswith(".md")
    assert b"question one" in data
    assert b"answer to question one" in data
    assert list((home / "tmp").iterdir()) == []


def test_ids_titles_and_keys_are_stored_and_logs_tell_no_secret(
    platform: Platform, model: ModelServer, home: Path
) -> None:
    configure(home, model.url, {platform.name: platform.config()})
    with Gateway(home) as gateway:
        platform.gateway = gateway.url
        ask(platform, 1, "xyzzy plugh")
        command(platform, 2, "/title my project")
        assert gateway.stop() == 0
        lines = logged(gateway)
    (rows,) = sessions(home)
    asked = next(row for row in rows if row["role"] == "user")
    assert asked["metadata"]["platform_message_id"]
    delivered = next(row["metadata"] for row in rows if "delivered" in (row["metadata"] or {}))
    assert delivered["platform_message_ids"] == [
        number for number, text in platform.shown.items() if text == "answer to xyzzy plugh"
    ]
    with SessionDB(home / "state.db") as db:
        session = db.get_session(asked["session_id"])
        assert session is not None
        assert (session["title"], session["source"]) == ("my project", platform.name)
        assert session["input_tokens"] == 10
    assert {"running", "message", "answered", "command", "stopped"} <= {line["event"] for line in lines}
    log = gateway.log.read_text()
    assert not [secret for secret in ("xyzzy", "plugh", "my project", SECRET, TOKEN) if secret in log]


def test_a_conversation_gets_a_title_that_a_person_may_change(
    platform: Platform, model: ModelServer, home: Path
) -> None:
    configure(home, model.url, {platform.name: platform.config()})
    with Gateway(home) as gateway:
        platform.gateway = gateway.url
        ask(platform, 1, "question one")

        def title() -> str:
            with SessionDB(home / "state.db") as db:
                return db.list_sessions_rich(limit=1)[0]["title"] or ""

        until(lambda: title() == "A scripted title", "a title")
        command(platform, 2, "/title my project")
        ask(platform, 3, "question two")
        assert gateway.stop() == 0
    assert title() == "my project"


def test_a_gateway_killed_in_mid_answer_is_taken_up_by_the_next(
    platform: Platform, model: ModelServer, home: Path
) -> None:
    configure(home, model.url, {platform.name: platform.config()})
    model.pause = 0.5
    with Gateway(home) as first:
        platform.gateway = first.url
        until(lambda: platform.say(1, "question one") == 200, "taken")
        until(lambda: model.asked, "the model is asked")
        first.kill()
    model.pause = 0.0
    with Gateway(home) as second:
        platform.gateway = second.url
        platform.say(1, "question one")
        until(lambda: "answer to question one" in platform.heard(), "the answer")
        ask(platform, 2, "question two")
        assert second.stop() == 0
    assert said(home, "user") == ["question one", "question two"]
    assert said(home, "assistant") == ["answer to question one", "answer to question two"]
    assert [text for text in platform.heard() if text.startswith("answer") and "▉" not in text] == [
        "answer to question one",
        "answer to question two",
    ]


def test_a_turn_that_runs_at_sigterm_ends_or_is_taken_up(platform: Platform, model: ModelServer, home: Path) -> None:
    configure(home, model.url, {platform.name: platform.config()}, gateway={"grace_seconds": 0.3})
    model.pause = 3.0
    with Gateway(home) as first:
        platform.gateway = first.url
        until(lambda: platform.say(1, "question one") == 200, "taken")
        until(lambda: model.asked, "the model is asked")
        assert first.stop() == 0
    (rows,) = sessions(home)
    assert [(row["content"], row["finish_reason"]) for row in rows] == [
        ("question one", None),
        ("[interrupted: stopped]", "interrupted"),
    ]
    model.pause = 0.0
    with Gateway(home) as second:
        platform.gateway = second.url
        until(lambda: "answer to question one" in platform.heard(), "the answer")
        assert second.stop() == 0
    assert said(home, "assistant") == ["answer to question one"]


def test_a_turn_within_its_grace_ends(platform: Platform, model: ModelServer, home: Path) -> None:
    configure(home, model.url, {platform.name: platform.config()})
    model.pause = 0.3
    with Gateway(home) as gateway:
        platform.gateway = gateway.url
        until(lambda: platform.say(1, "question one") == 200, "taken")
        until(lambda: model.asked, "the model is asked")
        assert gateway.stop() == 0
    assert platform.heard() == ["answer to question one"]
    assert said(home, "assistant") == ["answer to question one"]
