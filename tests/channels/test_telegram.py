"""Telegram with the real package against a server that speaks the Bot API."""

from __future__ import annotations

import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from gateways import Gateway, configure, said, sessions, until
from model_server import ModelServer
from platforms import TelegramPlatform

from sessiondb import SessionDB

FORUM = {"id": -1001, "type": "supergroup", "title": "Builders", "is_forum": True}


@pytest.fixture
def telegram() -> Iterator[TelegramPlatform]:
    with TelegramPlatform() as server:
        yield server


@pytest.fixture
def gateway(telegram: TelegramPlatform, model: ModelServer, home: Path) -> Iterator[Gateway]:
    configure(home, model.url, {"telegram": telegram.config()})
    with Gateway(home) as running:
        yield running


def hears(telegram: TelegramPlatform, text: str) -> None:
    until(lambda: text in telegram.heard(), f"{text}; {telegram.heard()}")


def from_user(telegram: TelegramPlatform, number: int, text: str, user: int, **more: Any) -> dict[str, Any]:
    message = telegram.message(number, text)
    return {**message, "from": {**message["from"], "id": user}, **more}


def test_people_of_a_group_and_topics_have_conversations_of_their_own(
    telegram: TelegramPlatform, gateway: Gateway, home: Path
) -> None:
    topic = {"message_thread_id": 9, "is_topic_message": True}
    telegram.deliver(from_user(telegram, 1, "by ann", 7, chat=FORUM))
    telegram.deliver(from_user(telegram, 2, "by bob", 8, chat=FORUM))
    telegram.deliver(from_user(telegram, 3, "by ann in a topic", 7, chat=FORUM, **topic))
    for text in ("by ann", "by bob", "by ann in a topic"):
        hears(telegram, f"answer to {text}")
    assert gateway.stop() == 0
    with SessionDB(home / "state.db") as db:
        found = {each["session_key"]: each for each in db.list_sessions_rich(limit=10)}
    assert found.keys() == {
        "agent:main:telegram:group:-1001:7",
        "agent:main:telegram:group:-1001:8",
        "agent:main:telegram:group:-1001:9:7",
    }
    assert {each["display_name"] for each in found.values()} == {"Builders"}
    threads = [each.get("message_thread_id") for each in telegram.sent if each["method"] == "sendMessage"]
    assert sorted(map(str, threads)) == ["9", "None", "None"]


def test_commands_for_this_bot_are_obeyed_and_those_for_others_ignored(
    telegram: TelegramPlatform, gateway: Gateway, home: Path
) -> None:
    telegram.deliver(from_user(telegram, 1, "/title@other_bot theirs", 7, chat=FORUM))
    telegram.deliver(from_user(telegram, 2, "hello", 7, chat=FORUM))
    hears(telegram, "answer to hello")
    telegram.deliver(from_user(telegram, 3, "/title@Test_Bot ours", 7, chat=FORUM))
    until(lambda: any("ours" in text for text in telegram.heard()), "the title")
    assert gateway.stop() == 0
    with SessionDB(home / "state.db") as db:
        assert [each["title"] for each in db.list_sessions_rich(limit=10)] == ["ours"]


def test_files_are_kept_by_path_and_hash(telegram: TelegramPlatform, gateway: Gateway, home: Path) -> None:
    picture, paper = b"\x89PNG picture" * 100, b"%PDF paper" * 100
    telegram.files = {"small": b"-", "big": picture, "doc": paper}
    sizes = [
        {"file_id": name, "file_unique_id": name, "width": side, "height": side}
        for name, side in (("small", 90), ("big", 1280))
    ]
    photo = {**telegram.message(1, ""), "photo": sizes, "caption": "look"}
    del photo["text"]
    document = {"file_id": "doc", "file_unique_id": "doc", "file_name": "paper.pdf", "mime_type": "application/pdf"}
    telegram.deliver(photo)
    hears(telegram, "answer to look\n[image]")
    plain = telegram.message(2, "")
    del plain["text"]
    telegram.deliver({**plain, "document": document})
    hears(telegram, "answer to [file: paper.pdf]")
    assert gateway.stop() == 0
    with SessionDB(home / "state.db") as db:
        (session,) = db.list_sessions_rich(limit=10)
        kept = db.get_media_refs(session["id"])
    assert [(each["kind"], each["mime_type"]) for each in kept] == [("image", None), ("file", "application/pdf")]
    for each, data in zip(kept, (picture, paper), strict=True):
        assert (each["sha256"], each["size"]) == (sha256(data).hexdigest(), len(data))
        assert Path(str(each["path"])).read_bytes() == data
    assert "PNG picture" not in str(sessions(home))


def test_a_message_with_a_file_that_bots_cannot_have_is_answered(
    telegram: TelegramPlatform, gateway: Gateway, home: Path
) -> None:
    video = {"file_id": "huge", "file_unique_id": "huge", "width": 1, "height": 1, "duration": 1}
    message = {**telegram.message(1, ""), "video": video, "caption": "look"}
    del message["text"]
    telegram.deliver(message)
    hears(telegram, "answer to look\n[video, which could not be fetched]")


def test_long_answers_are_split_and_too_many_requests_waited_for(
    telegram: TelegramPlatform, model: ModelServer, gateway: Gateway, home: Path
) -> None:
    answer = " ".join(f"word{number}😀" for number in range(1500))
    model.long["tell me more"] = answer
    telegram.refuse = [1, 1]
    began = time.monotonic()
    telegram.say(1, "tell me more")
    until(lambda: "".join(telegram.heard()) == answer, "the whole answer")
    assert time.monotonic() - began > 1.0
    assert len(telegram.heard()) == -(-len(answer.encode("utf-16-le")) // 2 // 4096)
    assert gateway.stop() == 0
    assert said(home, "assistant") == [answer]
    marks = [row["metadata"] for rows in sessions(home) for row in rows if "delivered" in (row["metadata"] or {})]
    assert [each["platform_message_ids"] for each in marks] == [list(telegram.shown)]


def test_answers_grow_by_edits_with_a_cursor(telegram: TelegramPlatform, model: ModelServer, gateway: Gateway) -> None:
    model.long["count"] = "one two three four five six seven eight"
    model.pause = 0.15
    telegram.say(1, "count")
    hears(telegram, "one two three four five six seven eight")
    texts = [each["text"] for each in telegram.sent]
    assert len(texts) > 3
    assert all(text.endswith(" ▉") for text in texts[:-1])
    assert telegram.heard() == ["one two three four five six seven eight"]
    assert "sendChatAction" in telegram.calls


def test_an_answer_whose_message_was_deleted_meanwhile_comes_as_a_new_one(
    telegram: TelegramPlatform, model: ModelServer, gateway: Gateway
) -> None:
    model.long["count"] = "one two three four five six seven eight"
    model.pause = 0.2
    telegram.say(1, "count")
    until(telegram.heard, "a beginning")
    with telegram.lock:
        telegram.shown.clear()
    hears(telegram, "one two three four five six seven eight")
    assert telegram.heard() == ["one two three four five six seven eight"]


def test_listening_goes_on_after_nonsense(telegram: TelegramPlatform, gateway: Gateway) -> None:
    telegram.nonsense = [
        (200, b"<html>a proxy speaks</html>", {}),
        (200, {"ok": True, "result": [{"update_id": 1, "message": {"message_id": 1}}]}, {}),
    ]
    until(lambda: not telegram.nonsense, "nonsense is told")
    telegram.say(1, "hello")
    hears(telegram, "answer to hello")


def test_the_webhook_takes_only_what_has_the_secret(telegram: TelegramPlatform, model: ModelServer, home: Path) -> None:
    settings = {**telegram.config(), "mode": "webhook", "webhook_url": "https://bot.example/telegram", "secret": "s3"}
    configure(home, model.url, {"telegram": settings})
    with Gateway(home) as gateway:
        telegram.gateway = gateway.url
        until(lambda: telegram.hook, "the webhook is set")
        assert telegram.hook["url"] == "https://bot.example/telegram"
        assert telegram.say(1, "hello") == 200
        assert telegram.say(1, "hello") == 200
        hears(telegram, "answer to hello")
        telegram.hook = {"secret_token": "wrong"}
        assert telegram.say(2, "forged") == 401
        assert gateway.stop() == 0
    assert said(home, "user") == ["hello"]


@pytest.mark.parametrize("times", [3])
def test_an_answer_that_was_seen_is_not_sent_again_after_a_kill(
    times: int, telegram: TelegramPlatform, model: ModelServer, home: Path
) -> None:
    configure(home, model.url, {"telegram": telegram.config()})
    for number in range(times):
        with Gateway(home) as gateway:
            telegram.say(number, f"question {number}")
            hears(telegram, f"answer to question {number}")
            gateway.kill()
    with Gateway(home) as gateway:
        telegram.say(99, "last")
        hears(telegram, "answer to last")
        assert gateway.stop() == 0
    expected = [f"answer to question {number}" for number in range(times)] + ["answer to last"]
    assert telegram.heard() == expected
    assert said(home, "assistant") == expected
