"""An endpoint that is away, slow or mad, two gateways on one store, and people who do not wait."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gateways import Gateway, configure, logged, said, sessions, until
from model_server import ModelServer
from platforms import HOOK, SECRET, TelegramPlatform, WebhookPlatform, posted, timed_headers

from sessiondb import SessionDB


def program(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SESSIONDB")}
    return subprocess.run(
        [sys.executable, "-m", "sessiondb", *arguments],
        env=environment | {"SESSIONDB_HOME": str(home), "HOME": str(home)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("mood", ["error", "nonsense", "half", "slow", "down"])
def test_an_endpoint_in_trouble_is_told_and_costs_nothing(mood: str, model: ModelServer, home: Path) -> None:
    with WebhookPlatform() as hook:
        configure(home, model.url if mood != "down" else "http://127.0.0.1:9", {"webhook": hook.config()})
        text = (home / "config.yaml").read_text().replace("timeout: 5", "timeout: 0.5")
        (home / "config.yaml").write_text(text)
        model.mood, model.pause = ("fine", 3.0) if mood == "slow" else (mood, 0.0)
        with Gateway(home) as gateway:
            hook.gateway = gateway.url
            hook.say(1, "question one")
            (told,) = until(hook.heard, "a word to the person")
            assert "could not answer" in told
            assert "kept" in told
            model.mood, model.pause = "fine", 0.0
            if mood != "down":
                hook.say(2, "/retry")
                until(lambda: "answer to question one" in hook.heard(), f"the answer; {hook.heard()}")
            assert gateway.stop() == 0
    assert "question one" in said(home, "user")


def test_two_gateways_serve_one_store(model: ModelServer, home: Path) -> None:
    """Every message is delivered to both at once, in forty chats; each is stored and answered once."""
    with WebhookPlatform() as hook:
        configure(home, model.url, {"webhook": hook.config()})
        with Gateway(home) as first, Gateway(home) as second:
            shown = json.loads(program(home, "gateway", "status", "--json").stdout)
            assert {each["pid"] for each in shown["gateways"]} == {first.process.pid, second.process.pid}

            def deliver(job: tuple[str, int]) -> int:
                url, number = job
                payload = hook.payload(number, f"question {number}") | {"chat": {"id": f"c{number % 40}"}}
                body = json.dumps(payload).encode()
                return posted(f"{url}/webhook", body, timed_headers(SECRET, "v1", HOOK, body))

            jobs = [(gateway.url, number) for number in range(120) for gateway in (first, second)]
            with ThreadPoolExecutor(8) as pool:
                assert set(pool.map(deliver, jobs)) == {200}
            expected = Counter(f"answer to question {number}" for number in range(120))
            until(lambda: len(hook.heard()) >= 40, "answers")
            done = program(home, "gateway", "stop")
            assert (done.returncode, done.stdout) == (0, "2 gateways ended.\n")
    assert Counter(said(home, "user")) == Counter(f"question {number}" for number in range(120))
    answers = Counter(said(home, "assistant"))
    assert set(answers) <= set(expected)
    assert max(answers.values()) == 1
    assert Counter(hook.heard()) == answers
    # Messages that waited together are answered together; the last of each chat is always answered.
    for rows in sessions(home):
        talk = [row for row in rows if row["role"] in ("user", "assistant") and not row["injected"]]
        assert talk[-1]["content"] == "answer to " + talk[-2]["content"]


def free_address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def test_gateways_of_one_home_share_its_address(model: ModelServer, home: Path) -> None:
    """The same command again is a second process; when the first is gone, the second one takes all."""
    with WebhookPlatform() as hook:
        configure(home, model.url, {"webhook": hook.config()}, gateway={"listen": free_address()})
        with Gateway(home) as first, Gateway(home) as second:
            assert first.url == second.url
            hook.gateway = first.url
            for number in range(20):
                until(lambda n=number: hook.say(n, f"question {n}") == 200, "taken")
                until(lambda n=number: f"answer to question {n}" in hook.heard(), "answered")
            first.kill()
            until(lambda: hook.say(20, "question 20") == 200, "taken")
            until(lambda: "answer to question 20" in hook.heard(), "answered")
            assert second.stop() == 0
    assert said(home, "user") == [f"question {number}" for number in range(21)]


def test_an_address_that_somebody_else_has_is_an_error(model: ModelServer, home: Path) -> None:
    with WebhookPlatform() as hook:
        address = free_address()
        for each in (home, home.with_name("other")):
            configure(each, model.url, {"webhook": hook.config()}, gateway={"listen": address})
        with Gateway(home):
            done = program(home.with_name("other"), "gateway", "run")
    assert done.returncode == 2
    assert f"{address} cannot be listened on" in done.stderr


def test_gateways_are_stopped_together(model: ModelServer, home: Path) -> None:
    """Their turns have the same seconds to end, not one after the other."""
    with WebhookPlatform() as hook:
        configure(home, model.url, {"webhook": hook.config()}, gateway={"grace_seconds": 3, "interval": 60})
        model.pause = 20.0
        with Gateway(home) as first, Gateway(home) as second:
            for number, gateway in enumerate((first, second)):
                body = json.dumps(hook.payload(number, "hello") | {"chat": {"id": f"c{number}"}}).encode()
                assert posted(f"{gateway.url}/webhook", body, timed_headers(SECRET, "v1", HOOK, body)) == 200
            until(lambda: len(model.asked) == 2, "the model is asked")
            assert program(home, "gateway", "stop").stdout == "2 gateways ended.\n"
            stopping = [line["at"] for line in logged(first) if line["event"] == "stopping"]
            assert len(stopping) == 2
            assert stopping[1] - stopping[0] < 2.0
    assert [row["finish_reason"] for rows in sessions(home) for row in rows] == [None, "interrupted"] * 2


def test_a_second_poller_stands_by_and_takes_over(model: ModelServer, home: Path) -> None:
    with TelegramPlatform() as telegram:
        configure(home, model.url, {"telegram": telegram.config()})
        with Gateway(home) as first, Gateway(home) as second:
            telegram.say(1, "question one")
            until(lambda: "answer to question one" in telegram.heard(), "the first answer")
            first.kill()
            telegram.say(2, "question two")
            until(lambda: "answer to question two" in telegram.heard(), "the second answer")
            assert second.stop() == 0
    assert said(home, "user") == ["question one", "question two"]
    assert telegram.heard() == ["answer to question one", "answer to question two"]


def test_who_does_not_wait_interrupts(model: ModelServer, home: Path) -> None:
    with TelegramPlatform() as telegram:
        configure(home, model.url, {"telegram": telegram.config()}, gateway={"when_busy": "interrupt"})
        with Gateway(home) as gateway:
            model.pause = 1.0
            telegram.say(1, "question one")
            until(lambda: model.asked, "the model is asked")
            model.pause = 0.0
            telegram.say(2, "question two")
            until(lambda: "answer to question two" in telegram.heard(), "the second answer")
            assert gateway.stop() == 0
    (rows,) = sessions(home)
    kinds = [(row["content"], row["finish_reason"]) for row in rows if row["role"] in ("user", "assistant")]
    assert kinds == [
        ("question one", None),
        ("[interrupted: new message]", "interrupted"),
        ("question two", None),
        ("answer to question two", "stop"),
    ]
    assert not [text for text in telegram.heard() if text.endswith("▉")]


def test_tools_and_commands_show_nothing_of_another_chat(model: ModelServer, home: Path) -> None:
    with WebhookPlatform() as hook:
        configure(home, model.url, {"webhook": hook.config()})
        with Gateway(home) as gateway:

            def say(number: int, chat: str, text: str) -> None:
                payload = hook.payload(number, text) | {"chat": {"id": chat}, "user": {"id": f"user of {chat}"}}
                body = json.dumps(payload).encode()
                posted(f"{gateway.url}/webhook", body, timed_headers(SECRET, "v1", HOOK, body))

            say(1, "a", "the password is swordfish")
            until(lambda: len(hook.heard()) == 1, "an answer")
            model.searches["what is the password"] = json.dumps({"query": "swordfish"})
            say(2, "b", "what is the password")
            until(lambda: len(hook.heard()) == 2, "an answer")
            say(3, "b", "/history swordfish")
            until(lambda: len(hook.heard()) == 3, "an answer")
            assert gateway.stop() == 0
    assert not [text for text in hook.heard()[1:] if "the password is" in text]
    with SessionDB(home / "state.db") as db:
        (tool,) = [row for rows in sessions(home) for row in rows if row["role"] == "tool"]
        assert "password is" not in tool["content"]
        (call,) = db.get_tool_calls(tool["session_id"])
    assert (call["tool_name"], call["status"]) == ("session_search", "completed")


class TestSettings:
    def start(self, home: Path) -> str:
        done = program(home, "gateway", "run")
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        return done.stderr

    def test_a_gateway_without_channels_says_what_to_do(self, model: ModelServer, home: Path) -> None:
        configure(home, model.url, {})
        assert "no channel is configured" in self.start(home)

    def test_unknown_channels_keys_and_missing_ones_are_named(self, model: ModelServer, home: Path) -> None:
        configure(home, model.url, {"pigeon": {}})
        assert "unknown channel 'pigeon'" in self.start(home)
        configure(home, model.url, {"webhook": {"secret": "x", "reply": "y"}})
        assert "unknown key channels.webhook.reply" in self.start(home)
        configure(home, model.url, {"webhook": {"secret": "x"}})
        assert "channels.webhook.reply_url is missing" in self.start(home)
