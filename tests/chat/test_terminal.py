"""The chat host as people use it: typed on a real terminal, stopped, killed, taken up again."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sessiondb
from chat_endpoint import BREAK, ChatEndpoint, tool_call

PATIENCE = 30.0
PROMPT = "● "


def _sat_down() -> None:
    """The terminal is theirs, and Ctrl-C means something: who runs tests in the background has it ignored."""
    os.close(os.open(os.ttyname(0), os.O_RDWR))
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Person:
    """Somebody at a terminal: types, reads, presses keys."""

    def __init__(self, environment: dict[str, str], *arguments: str) -> None:
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sessiondb", *arguments],
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
            preexec_fn=_sat_down, cwd=environment["HOME"],
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""

    def reads(self, text: str) -> str:
        """Wait until the screen shows this after what was read before; what was shown until then."""
        until = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert time.monotonic() < until, f"{text!r} is not in {self.shown!r}"
            self._look()
        before, _, self.shown = self.shown.partition(text)
        return before

    def _look(self) -> None:
        if select.select([self.terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(self.terminal, 65536).decode(errors="replace")
            except OSError:  # the other side is closed
                return
            self.shown += re.sub(r"\x1b\[\?2004[hl]|\r", "", piece)

    def types(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def interrupts(self) -> None:
        """Ctrl-C, when the program waits: one that comes just before readline waits is seen with the next key only."""
        until = time.monotonic() + PATIENCE
        while Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
            assert time.monotonic() < until, "the program does not wait"
            time.sleep(0.01)
        self.types("\x03")

    def says(self, text: str) -> None:
        self.reads(PROMPT)
        self.types(text + "\n")

    def leaves(self) -> str:
        """Ctrl-D at the prompt; what is shown at the end."""
        self.reads(PROMPT)
        self.types("\x04")
        while self.process.poll() is None:
            self._look()
        self._look()
        return self.shown


Sit = Callable[..., Person]


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, endpoint: ChatEndpoint) -> Path:
    endpoint.configure(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "SESSIONDB_HOME": str(home),
        "TERM": "xterm",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture
def sit(environment: dict[str, str]) -> Iterator[Sit]:
    people: list[Person] = []

    def begin(*arguments: str) -> Person:
        people.append(Person(environment, "chat", *arguments))
        return people[-1]

    yield begin
    for person in people:
        person.process.kill()
        person.process.wait()
        os.close(person.terminal)


@pytest.fixture
def stored(home: Path) -> Callable[[], list[tuple[str, Any]]]:
    """What is in the store, over all sessions, in order."""

    def look() -> list[tuple[str, Any]]:
        with sessiondb.open(home / "state.db", read_only=True) as db:
            rows = [row for each in db.search_sessions() for row in db.get_messages(each["id"])]
            assert db.verify().ok
        return [(row["role"], row["content"]) for row in sorted(rows, key=lambda row: row["id"])]

    return look


def asked(endpoint: ChatEndpoint) -> list[Any]:
    """The conversations that were sent to be answered; titles are asked for too, beside."""
    return [request["messages"] for request in endpoint.requests if request.get("stream")]


def told(home: Path, *arguments: str, typed: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    kept = {"PATH": os.environ["PATH"], "HOME": str(home), "SESSIONDB_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "sessiondb", "chat", *arguments],
        input=typed, capture_output=True, encoding="utf-8", env={**kept, **env}, check=False, timeout=60,
    )  # fmt: skip


class TestAtATerminal:
    def test_a_conversation_is_shown_and_kept(
        self, sit: Sit, endpoint: ChatEndpoint, stored: Callable[[], list[Any]]
    ) -> None:
        endpoint.reply = lambda request: ["Nginx ", "does."]
        person = sit()
        person.says("what runs on port 80?")
        person.reads("◆ Nginx does.")
        person.says("/title ports")
        person.reads("'ports' now")
        last = person.leaves()
        assert re.search(r"Session (\d{8}_\d{6}_[0-9a-f]{8})\n  sessiondb chat -r \1\n", last)
        assert stored() == [("user", "what runs on port 80?"), ("assistant", "Nginx does.")]
        assert person.process.returncode == 0

    def test_it_is_taken_up_by_name_with_its_recap(
        self, sit: Sit, endpoint: ChatEndpoint, stored: Callable[[], list[Any]]
    ) -> None:
        first = sit()
        first.says("the word is rosebud")
        first.reads("An answer")
        first.says("/title my project")
        first.leaves()
        again = sit("-c", "my", "project")
        again.reads("Previous Conversation")
        again.reads("rosebud")
        again.says("what is the word?")
        again.reads("An answer")
        again.leaves()
        assert [turn["content"] for turn in asked(endpoint)[-1] if turn["role"] == "user"][-2:] == [
            "the word is rosebud", "what is the word?",
        ]  # fmt: skip
        assert [role for role, _ in stored()] == ["user", "assistant"] * 2

    def test_a_tool_is_shown_while_it_runs(self, sit: Sit, endpoint: ChatEndpoint) -> None:
        call = [tool_call("session_search", '{"query": "rosebud"}')]
        endpoint.reply = lambda request: "Found." if request["messages"][-1]["role"] == "tool" else call
        person = sit()
        person.says("look it up")
        person.reads('⚙ session_search {"query": "rosebud"}')
        person.reads("◆ Found.")

    def test_ctrl_c_stops_an_answer_and_keeps_what_was_said(
        self, sit: Sit, endpoint: ChatEndpoint, stored: Callable[[], list[Any]]
    ) -> None:
        endpoint.reply = lambda request: ["so far", 20.0, "never"]
        person = sit()
        person.says("tell me a story")
        person.reads("so far")
        person.interrupts()
        person.reads("what was said is kept")
        endpoint.reply = lambda request: "the end"
        person.says("go on")
        person.reads("the end")
        person.leaves()
        assert stored() == [
            ("user", "tell me a story"), ("assistant", "so far"), ("user", "go on"), ("assistant", "the end"),
        ]  # fmt: skip

    def test_ctrl_c_during_a_command_comes_back_to_the_prompt(
        self, sit: Sit, home: Path, endpoint: ChatEndpoint, stored: Callable[[], list[Any]]
    ) -> None:
        config = home / "config.yaml"
        config.write_text(config.read_text().replace("timeout: 5", "timeout: 60"))
        person = sit()
        person.says("tell me a story")
        person.reads("An answer")
        person.says("/title told")
        person.reads("is called 'told' now")
        known = len(endpoint.requests)
        endpoint.delay = 20.0
        person.says("/compress")
        while len(endpoint.requests) == known:
            time.sleep(0.01)
        person.interrupts()
        person.reads("[stopped]")
        endpoint.delay = 0.0
        person.says("go on")
        person.reads("An answer")
        person.says("/sessions")
        person.reads("* told · 4 messages")
        person.leaves()

    def test_ctrl_c_at_the_prompt_drops_what_was_typed(self, sit: Sit, stored: Callable[[], list[Any]]) -> None:
        person = sit()
        person.reads(PROMPT)
        person.types("never mi")
        person.reads("never mi")
        person.interrupts()
        person.reads("/quit leaves")
        person.says("hello")
        person.reads("An answer")
        person.leaves()
        assert stored()[0] == ("user", "hello")

    def test_several_lines_are_one_message(self, sit: Sit, stored: Callable[[], list[Any]]) -> None:
        person = sit()
        person.says("one \\")
        person.reads("… ")
        person.types("two\n")
        person.reads("An answer")
        person.reads(PROMPT)
        # As a terminal marks what is pasted.
        person.types("\x1b[200~three\nfour\x1b[201~\n")
        person.reads("An answer")
        person.leaves()
        assert [text for role, text in stored() if role == "user"] == ["one \ntwo", "three\nfour"]

    def test_commands_are_completed_and_remembered(self, sit: Sit) -> None:
        person = sit()
        person.reads(PROMPT)
        person.types("/reca\t\n")
        person.reads("Nothing was said yet.")
        person.leaves()
        again = sit()
        again.reads(PROMPT)
        again.types("\x1b[A\n")
        again.reads("Nothing was said yet.")

    def test_a_message_of_several_lines_is_remembered_as_one_even_by_a_chat_that_is_killed(
        self, sit: Sit, home: Path, stored: Callable[[], list[Any]]
    ) -> None:
        person = sit()
        person.says("one \\")
        person.reads("… ")
        person.types('"two"\n')
        person.reads("An answer")
        person.process.kill()
        person.process.wait()
        again = sit()
        again.reads(PROMPT)
        again.types("\x1b[A\n")
        again.reads("An answer")
        again.leaves()
        assert [text for role, text in stored() if role == "user"] == ['one \n"two"'] * 2
        assert (home / "chat_history").stat().st_mode & 0o777 == 0o600

    def test_words_are_not_torn_at_the_edge(self, sit: Sit, endpoint: ChatEndpoint) -> None:
        endpoint.reply = lambda request: ["frob", "nicator "] * 12
        person = sit()
        person.says("hello")
        # The beginning of a word that does not fit is taken back.
        shown = re.sub("[a-z]+\b+ +\n", "\n", person.reads("\n\n" + PROMPT))
        assert max(len(line) for line in shown.split("\n")) < 80
        assert shown.count("frobnicator") == 12

    @pytest.mark.parametrize(
        ("trouble", "told"),
        [
            ({"status": 503, "body": b"{}"}, "did not answer: status 503"),
            ({"body": b"<html>hello</html>"}, "what came is no stream of an answer"),
            ({"reply": lambda request: ["half", BREAK]}, "the answer broke off"),
            ({"delay": 1.5}, "did not answer: APITimeoutError"),
        ],
    )
    def test_whatever_an_endpoint_does_is_told_in_one_sentence(
        self, sit: Sit, home: Path, endpoint: ChatEndpoint, stored: Callable[[], list[Any]],
        trouble: dict[str, Any], told: str,
    ) -> None:  # fmt: skip
        config = home / "config.yaml"
        config.write_text(config.read_text().replace("timeout: 5", "timeout: 0.5"))
        for name, value in trouble.items():
            setattr(endpoint, name, value)
        person = sit()
        person.says("hello?")
        shown = person.reads("nothing is lost, /retry asks again")
        assert told in shown
        assert len(shown.split("sessiondb: ")) == 2
        assert "no whole answer" not in shown
        endpoint.status, endpoint.body, endpoint.delay, endpoint.reply = 200, None, 0.0, lambda request: "whole"
        person.says("/retry")
        person.reads("◆ whole")
        person.leaves()
        assert stored() == [("user", "hello?"), ("assistant", "whole")]

    def test_an_endpoint_that_fails_is_told_and_asked_again(
        self, sit: Sit, endpoint: ChatEndpoint, stored: Callable[[], list[Any]]
    ) -> None:
        endpoint.reply = lambda request: ["half", BREAK]
        person = sit()
        person.says("hello?")
        person.reads("the answer broke off; nothing is lost, /retry asks again")
        endpoint.reply = lambda request: "whole"
        person.says("/retry")
        person.reads("◆ whole")
        person.leaves()
        assert stored() == [("user", "hello?"), ("assistant", "whole")]

    def test_an_answer_cannot_command_the_terminal(self, sit: Sit, endpoint: ChatEndpoint) -> None:
        endpoint.reply = lambda request: ["\x1b", "]0;owned\x07 done"]
        person = sit()
        person.says("hello")
        assert "\\x1b]0;owned\\x07" in person.reads(" done")


@pytest.mark.alone
class TestKilled:
    def test_in_mid_answer_every_acknowledged_message_is_there_and_the_history_can_be_replayed(
        self, sit: Sit, endpoint: ChatEndpoint, stored: Callable[[], list[Any]]
    ) -> None:
        person = sit()
        person.says("one")
        person.reads("An answer")
        endpoint.reply = lambda request: ["half of an", 30.0]
        person.says("two")
        person.reads("half of an")
        os.kill(person.process.pid, signal.SIGKILL)
        person.process.wait()
        assert stored() == [("user", "one"), ("assistant", "An answer"), ("user", "two")]
        endpoint.reply = lambda request: "back again"
        again = sit("-c")
        again.reads("two")
        again.says("three")
        again.reads("back again")
        again.leaves()
        sent = [(turn["role"], turn["content"]) for turn in asked(endpoint)[-1][1:]]
        assert sent == [("user", "one"), ("assistant", "An answer"), ("user", "two"), ("user", "three")]

    def test_while_a_tool_runs_its_call_is_closed_in_the_replay(
        self, sit: Sit, home: Path, endpoint: ChatEndpoint, stored: Callable[[], list[Any]]
    ) -> None:
        with sessiondb.open(home / "state.db") as db:
            # What a process leaves that is killed between a call and its result.
            db.create_session("s", "cli")
            call = {"id": "c1", "type": "function", "function": {"name": "session_search", "arguments": "{}"}}
            db.append_messages("s", [
                {"role": "user", "content": "one"},
                {"role": "assistant", "content": "", "tool_calls": [call], "finish_reason": "tool_calls"},
            ])  # fmt: skip
        person = sit("-c")
        person.says("two")
        person.reads("An answer")
        sent = asked(endpoint)[0]
        assert [turn["role"] for turn in sent[1:]] == ["user", "assistant", "tool", "user"]
        assert sent[3]["tool_call_id"] == "c1"


class TestWithoutATerminal:
    def test_each_line_is_a_message_and_only_answers_are_printed(
        self, home: Path, stored: Callable[[], list[Any]]
    ) -> None:
        done = told(home, typed="one\ntwo\n")
        assert (done.returncode, done.stdout) == (0, "An answer\nAn answer\n")
        assert "sessiondb chat -r 2" in done.stderr
        assert len(stored()) == 4
        assert told(home, "-c", typed="three\n").stdout == "An answer\n"

    def test_a_failure_is_a_sentence_and_an_exit_code(
        self, home: Path, endpoint: ChatEndpoint, stored: Callable[[], list[Any]]
    ) -> None:
        endpoint.status, endpoint.body = 500, b"{}"
        done = told(home, typed="one\n")
        assert done.returncode == 5
        assert "did not answer: status 500" in done.stderr
        assert stored()[0] == ("user", "one")

    def test_without_a_model_it_says_what_to_do(self, tmp_path: Path) -> None:
        done = told(tmp_path / "none", typed="one\n")
        assert done.returncode == 2
        assert "no model is configured; set llm.base_url and llm.model in config.yaml" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["-r"], "-r needs the id or title"),
            (["some", "name"], "sessiondb chat -c some name"),
            (["-c", "x"], "no session"),
        ],
    )
    def test_a_session_that_is_not_there_is_told(self, home: Path, arguments: list[str], complaint: str) -> None:
        done = told(home, *arguments)
        assert done.returncode in (2, 3)
        assert complaint in done.stderr

    def test_another_model_of_the_endpoint(self, home: Path, endpoint: ChatEndpoint) -> None:
        told(home, "--model", "large", typed="one\n")
        assert endpoint.requests[0]["model"] == "large"
