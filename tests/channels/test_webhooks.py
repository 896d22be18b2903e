"""What comes in by HTTP is taken only with its signature, of now, once, and in measure."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from gateways import Gateway, configure, said, until
from model_server import ModelServer
from platforms import (
    HOOK,
    SECRET,
    SLACK,
    DiscordPlatform,
    Platform,
    SlackPlatform,
    WebhookPlatform,
    WhatsAppPlatform,
    posted,
    timed_headers,
)

from sessiondb import SessionDB

Start = Callable[[Platform], Gateway]


@pytest.fixture
def start(model: ModelServer, home: Path) -> Iterator[Start]:
    running: list[Gateway] = []

    def start(platform: Platform) -> Gateway:
        configure(home, model.url, {platform.name: platform.config()})
        running.append(Gateway(home).ready())
        platform.gateway = running[0].url
        return running[0]

    yield start
    for each in running:
        each.kill()


def test_the_webhook_refuses_forged_old_and_oversized_requests(start: Start, home: Path) -> None:
    with WebhookPlatform() as hook:
        gateway = start(hook)
        url = f"{gateway.url}/webhook"
        body = json.dumps(hook.payload(1, "hello")).encode()
        now = int(time.time())
        assert posted(url, body, {}) == 401
        assert posted(url, body, timed_headers("another secret", "v1", HOOK, body)) == 401
        assert posted(url, body + b" ", timed_headers(SECRET, "v1", HOOK, body)) == 401
        assert posted(url, body, timed_headers(SECRET, "v1", HOOK, body, now - 400)) == 401
        assert posted(url, body, timed_headers(SECRET, "v1", HOOK, body, now + 400)) == 401
        large = b" " * (4 * 1024 * 1024 + 1)
        assert posted(url, large, timed_headers(SECRET, "v1", HOOK, large)) in (413, 0)
        blank = json.dumps(hook.payload(2, " ")).encode()
        assert posted(url, blank, timed_headers(SECRET, "v1", HOOK, blank)) == 400
        assert posted(url, b"[]", timed_headers(SECRET, "v1", HOOK, b"[]")) == 400
        assert posted(f"{gateway.url}/elsewhere", b"{}", {}) == 404
        assert gateway.stop() == 0
    assert said(home, "user") == []


def test_a_request_sent_again_is_taken_once(start: Start, home: Path) -> None:
    with WebhookPlatform() as hook:
        gateway = start(hook)
        body = json.dumps(hook.payload(1, "hello")).encode()
        headers = timed_headers(SECRET, "v1", HOOK, body)
        assert [posted(f"{gateway.url}/webhook", body, headers) for _ in range(5)] == [200] * 5
        until(lambda: hook.heard() == ["answer to hello"], "one answer")
        assert gateway.stop() == 0
    assert said(home, "user") == ["hello"]
    assert hook.heard() == ["answer to hello"]


def test_slack_proves_its_address_and_its_retries_and_mentions_count_once(start: Start, home: Path) -> None:
    with SlackPlatform() as slack:
        gateway = start(slack)
        body = json.dumps({"type": "url_verification", "challenge": "3eZbrw1aB"}).encode()
        from urllib.request import Request

        signed = Request(f"{gateway.url}/slack/events", body, timed_headers(SECRET, "v0", SLACK, body))
        with urlopen(signed) as response:
            assert json.load(response) == {"challenge": "3eZbrw1aB"}
        assert posted(f"{gateway.url}/slack/events", body, timed_headers("forged", "v0", SLACK, body)) == 401
        message = slack.payload(1, "hello")
        assert slack.send(message) == 200
        assert slack.send(message, {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}) == 200
        mention = {**message, "event_id": "Ev2", "event": {**message["event"], "type": "app_mention"}}
        assert slack.send(mention) == 200
        ours = {**message["event"], "bot_id": "B1", "ts": "1741166199.1"}
        assert slack.send({**message, "event": ours}) == 200
        changed = {**message["event"], "subtype": "message_changed", "ts": "1741166198.1"}
        assert slack.send({**message, "event": changed}) == 200
        until(lambda: slack.heard() == ["answer to hello"], "one answer")
        assert gateway.stop() == 0
    assert said(home, "user") == ["hello"]


def test_slack_takes_slash_commands_and_commands_behind_a_mention(start: Start, home: Path) -> None:
    with SlackPlatform() as slack:
        gateway = start(slack)
        slack.say(1, "hello")
        until(lambda: slack.heard() == ["answer to hello"], "an answer")
        assert [slack.commanded(2, "/title", "my project") for _ in range(2)] == [200, 200]
        until(lambda: len(slack.heard()) == 2, "an answer to the command")
        assert slack.commanded(3, "/title", "forged", trigger_id="") == 400
        message = slack.payload(4, "<@U0LAN0Z89> /title")
        bot = {"team_id": "T061EG9R6", "user_id": "U0LAN0Z89", "is_bot": True}
        assert slack.send({**message, "authorizations": [bot]}) == 200
        until(lambda: len(slack.heard()) == 3, "an answer to the mention")
        assert gateway.stop() == 0
    assert slack.heard()[1:] == ["This session is called 'my project' now.", "This session is called 'my project'."]
    assert said(home, "user") == ["hello"]


def test_slack_marks_are_taken_off_what_comes_and_put_on_what_goes(
    start: Start, model: ModelServer, home: Path
) -> None:
    with SlackPlatform() as slack:
        gateway = start(slack)
        written = "is <https://example.com/a?b=1&amp;c=2|example.com> &lt;b&gt; in <#C1|general>?"
        meant = "is https://example.com/a?b=1&c=2 <b> in #general?"
        model.long[meant] = "<!channel> & <b>"
        slack.say(1, written)
        until(lambda: "&lt;!channel&gt; &amp; &lt;b&gt;" in slack.heard(), f"an answer; {slack.heard()}")
        assert gateway.stop() == 0
    assert (said(home, "user"), said(home, "assistant")) == ([meant], ["<!channel> & <b>"])


def test_reactions_are_no_messages(start: Start, home: Path) -> None:
    with WhatsAppPlatform() as whatsapp:
        gateway = start(whatsapp)
        reaction = {"message_id": "wamid.1", "emoji": "👍"}
        sent = {"from": "16505551234", "id": "wamid.2", "timestamp": "1", "type": "reaction", "reaction": reaction}
        assert whatsapp.send(whatsapp.around(sent)) == 200
        whatsapp.say(3, "hello")
        until(lambda: whatsapp.heard() == ["answer to hello"], "one answer")
        assert gateway.stop() == 0
    assert said(home, "user") == ["hello"]


def test_slack_is_left_alone_as_long_as_it_asks(start: Start) -> None:
    with SlackPlatform() as slack:
        start(slack)
        slack.refuse = [1, 1, 1]
        began = time.monotonic()
        slack.say(1, "hello")
        until(lambda: slack.heard() == ["answer to hello"], "the answer")
        assert time.monotonic() - began > 2.5


def test_whatsapp_answers_its_challenge_only_with_the_token(start: Start) -> None:
    with WhatsAppPlatform() as whatsapp:
        gateway = start(whatsapp)
        asked = f"{gateway.url}/whatsapp?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token="
        with urlopen(asked + "verify-me") as response:
            assert response.read() == b"1158201444"
        with pytest.raises(OSError, match="401"):
            urlopen(asked + "guessed")
        body = json.dumps(whatsapp.payload(1, "forged")).encode()
        assert posted(f"{gateway.url}/whatsapp", body, {"X-Hub-Signature-256": "sha256=" + "0" * 64}) == 401


def _slack_file(slack: SlackPlatform) -> int:
    message = slack.payload(1, "look")
    file = {"id": "F1", "name": "a.png", "mimetype": "image/png", "url_private": f"{slack.url}/api/files/a.png"}
    return slack.send({**message, "event": {**message["event"], "subtype": "file_share", "files": [file]}})


def _whatsapp_file(whatsapp: WhatsAppPlatform) -> int:
    picture = {"id": "media77", "mime_type": "image/jpeg", "caption": "look"}
    message = {"from": "16505551234", "id": "wamid.1", "timestamp": "1", "type": "image", "image": picture}
    return whatsapp.send(whatsapp.around(message))


@pytest.mark.parametrize(
    ("kind", "send", "data"),
    [(SlackPlatform, _slack_file, b"picture of Slack"), (WhatsAppPlatform, _whatsapp_file, b"picture of WhatsApp")],
)
def test_files_are_kept_by_path_and_hash(
    kind: type[Any], send: Callable[[Any], int], data: bytes, start: Start, home: Path
) -> None:
    with kind() as platform:
        gateway = start(platform)
        assert send(platform) == 200
        until(platform.heard, "an answer")
        assert gateway.stop() == 0
    with SessionDB(home / "state.db") as db:
        (kept,) = db.get_media_refs(db.list_sessions_rich(limit=1)[0]["id"])
    assert (kept["kind"], kept["sha256"]) == ("image", sha256(data).hexdigest())
    assert Path(str(kept["path"])).read_bytes() == data


def test_no_token_goes_to_another_place(start: Start, home: Path) -> None:
    with SlackPlatform() as slack:
        gateway = start(slack)
        message = slack.payload(1, "look")
        file = {"id": "F1", "name": "a", "mimetype": "image/png", "url_private": "http://127.0.0.1:9/steal"}
        refused = {**message, "event": {**message["event"], "subtype": "file_share", "files": [file]}}
        assert slack.send(refused) == 400
        assert gateway.stop() == 0
    assert said(home, "user") == []


def test_discord_takes_messages_of_people_only(start: Start, home: Path) -> None:
    with DiscordPlatform() as discord:
        gateway, send = start(discord), discord.send
        payload = discord.payload(1, "hello")
        robot = {**payload["d"], "id": "2", "author": {**payload["d"]["author"], "bot": True}}
        assert send({"op": 11, "d": None, "s": None, "t": None}) == 200
        assert send({**payload, "t": "MESSAGE_UPDATE"}) == 200
        assert send({**payload, "d": robot}) == 200
        assert send({**payload, "d": {**payload["d"], "id": "3", "type": 7, "content": ""}}) == 200
        assert send(payload) == 200
        until(lambda: discord.heard() == ["answer to hello"], "one answer")
        assert gateway.stop() == 0
    assert said(home, "user") == ["hello"]


def test_discord_takes_slash_commands_and_commands_behind_a_mention(start: Start, home: Path) -> None:
    with DiscordPlatform() as discord:
        gateway = start(discord)
        assert discord.say(1, "hello") == 200
        until(lambda: discord.heard() == ["answer to hello"], "an answer")
        assert [discord.commanded(2, "title", "my plan") for _ in range(2)] == [200, 200]
        asked = discord.payload(3, "<@1234> /title")
        mentioned = {**asked["d"], "mentions": [{"id": "1234", "username": "us", "bot": True}]}
        assert discord.send({**asked, "d": mentioned}) == 200
        assert discord.commanded(4, "new") == 200
        until(lambda: len(discord.heard()) == 4, "answers")
        assert gateway.stop() == 0
    _, named, shown, _ = discord.heard()
    assert "is called 'my plan' now" in named
    assert shown == "This session is called 'my plan'."
    assert discord.acknowledged[0] == "/api/v10/interactions/8460000000002/aW50%2FZXJh2/callback"
    assert said(home, "user") == ["hello"]


def test_what_has_neither_text_nor_file_is_passed_by(start: Start, home: Path) -> None:
    with SlackPlatform() as slack:
        gateway = start(slack)
        message = slack.payload(1, "<@U1>")
        assert slack.send({**message, "event": {**message["event"], "type": "app_mention"}}) == 200
        assert slack.say(2, "hello") == 200
        until(lambda: slack.heard() == ["answer to hello"], "one answer")
        assert gateway.stop() == 0
    assert said(home, "user") == ["hello"]


def test_a_message_with_a_file_that_slack_has_not_is_kept(start: Start, home: Path) -> None:
    with SlackPlatform() as slack:
        gateway = start(slack)
        message = slack.payload(1, "look")
        file = {
            "id": "F1", "name": "plan", "mimetype": "application/vnd.google-apps.document", "mode": "external",
            "is_external": True, "url_private": "https://docs.example/plan",
        }  # fmt: skip
        gone = {"id": "F2", "mode": "tombstone"}
        said_so = {**message["event"], "subtype": "file_share", "files": [file, gone]}
        assert slack.send({**message, "event": said_so}) == 200
        until(slack.heard, "an answer")
        assert gateway.stop() == 0
    (kept,) = said(home, "user")
    assert kept == "look\n[file: plan, which could not be fetched]\n[file, which could not be fetched]"


def test_whatsapp_understands_what_was_tapped(start: Start, home: Path) -> None:
    with WhatsAppPlatform() as whatsapp:
        gateway = start(whatsapp)
        sent = {"from": "16505551234", "id": "wamid.1", "timestamp": "1741166123"}
        line = {"type": "list_reply", "list_reply": {"id": "row1", "title": "the second"}}
        assert whatsapp.send(whatsapp.around({**sent, "type": "interactive", "interactive": line})) == 200
        until(lambda: "answer to the second" in whatsapp.heard(), "an answer")
        button = {**sent, "id": "wamid.2", "type": "button", "button": {"payload": "p", "text": "Yes"}}
        assert whatsapp.send(whatsapp.around(button)) == 200
        until(lambda: "answer to Yes" in whatsapp.heard(), "an answer")
        assert gateway.stop() == 0
    assert said(home, "user") == ["the second", "Yes"]
