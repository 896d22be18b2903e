"""Taking conversations up again: which one is meant, what is shown, and who goes on with it."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sessiondb
from sessiondb import registry
from sessiondb.agents import RESUME, resumption
from sessiondb.cli.shortcuts import spelled_out
from sessiondb.cli.text import width
from sessiondb.db import SessionDB
from sessiondb.errors import Invalid

Run = Callable[..., Any]
New = Callable[..., str]
FIRST = "20250305_091523_a1b2c3d4"
OTHER = "20250306_101523_e5f60718"


class TestShortForms:
    @pytest.mark.parametrize(
        ("typed", "meant"),
        [
            ("-c", "resume -c"),
            ("-c my project", "resume -c my project"),
            ("--continue=x", "resume --continue x"),
            ("-r x --json", "resume -r x --json"),
            ("-rx", "resume -r x"),
            ("--resume x", "resume --resume x"),
            ("--db x.db --no-pager -c", "--db x.db --no-pager resume -c"),
            ("--db=x.db -c", "--db=x.db resume -c"),
            ("list -c", "list -c"),
            ("--db -c", "--db -c"),
            ("show -1", "show -1"),
            ("", ""),
        ],
    )
    def test_they_stand_for_the_command(self, typed: str, meant: str) -> None:
        assert spelled_out(typed.split()) == meant.split()
        assert spelled_out(meant.split()) == meant.split()


class TestWhichOne:
    def test_bare_c_takes_the_last_active_of_source_cli(self, run: Run, session: New) -> None:
        session("a", "older", started_at=100.0)
        session("b", "newer", started_at=200.0)
        session("t", "chat", source="telegram", started_at=300.0)
        for words in (["-c"], ["--continue"], ["resume"], ["resume", "-c"], ["sessions", "-c"]):
            assert run(*words).lines[0].startswith("b · 1 message"), words

    def test_activity_decides_not_the_start(self, run: Run, session: New, db: SessionDB) -> None:
        session("a", "older", started_at=100.0)
        session("b", "newer", started_at=200.0)
        db.append_message("a", "user", "again")
        assert run("-c").lines[0].startswith("a · 2 messages")

    def test_archived_sessions_are_left_alone(self, run: Run, session: New, db: SessionDB) -> None:
        session("a", "x")
        session("b", "y")
        db.archive_session("b")
        assert run("-c").lines[0].startswith("a ")

    @pytest.mark.parametrize("option", ["-c", "-r", "--resume", "resume"])
    @pytest.mark.parametrize("name", [FIRST, "my project", "20250305", "latest", "-1"])
    def test_ids_titles_prefixes_and_counts_are_understood(
        self, run: Run, session: New, option: str, name: str
    ) -> None:
        session(OTHER, "x")
        session(FIRST, "hello", title="my project")
        assert run(option, *name.split()).lines[0].startswith("my project · 1 message"), run(option, name).err

    def test_a_lineage_is_taken_up_where_it_is(self, run: Run, session: New, db: SessionDB) -> None:
        session("a", "x", title="my project")
        second = db.rotate_session("a", new_id="b")
        third = db.rotate_session(second, new_id="c")
        db.append_message(third, "user", "newest part")
        for name in ("my project", "a", "b", "my project #2"):
            assert "● newest part" in run("-r", name).lines, name

    def test_a_continuation_without_messages_goes_on_at_its_descendant(self, run: Run, db: SessionDB) -> None:
        db.create_session("empty", "cli")
        db.create_session("child", "cli", parent_session_id="empty", relation="reset")
        db.append_message("child", "user", "here it is")
        assert "● here it is" in run("-r", "empty").lines

    def test_what_is_not_there_is_not_found(self, run: Run, session: New) -> None:
        assert (run("-c").code, run("-c").err) == (
            3,
            "sessiondb: no session of source cli; `sessiondb resume latest` takes the last of any source\n",
        )
        session("a", "x")
        assert (run("-c", "nothing").code, run("-r").code) == (3, 2)


def call(*names: str) -> list[dict[str, Any]]:
    return [{"id": str(number), "function": {"name": name}} for number, name in enumerate(names)]


@pytest.fixture
def long_story(db: SessionDB) -> SessionDB:
    db.create_session(FIRST, "cli", system_prompt="secret instructions")
    db.set_session_title(FIRST, "long story")
    for number in range(12):
        db.append_message(FIRST, "user", f"question {number} 东京 👩‍💻 " + "why? " * 100)
        db.append_message(FIRST, "assistant", f"answer {number}\nb\nc\nd", tool_calls=call("a", "b", "c", "d", "e"))
        db.append_message(FIRST, "tool", "hidden result", tool_name="a")
    return db


class TestPanel:
    def test_the_last_ten_exchanges_shortened(self, run: Run, long_story: SessionDB) -> None:
        lines = run("-c").lines
        assert lines[:3] == [f"long story · 36 messages · just now · {FIRST}", "... 4 earlier messages ...", ""]
        assert sum(line.startswith("● ") for line in lines) == sum(line.startswith("◆ ") for line in lines) == 10
        assert lines[3].startswith("● question 2 东京")
        answer = lines.index("◆ answer 2")
        assert lines[answer : answer + 4] == ["◆ answer 2", "  b", "  c...", "  [5 tool calls: a, b, c, d, ...]"]
        assert not any("hidden" in line or "secret" in line for line in lines)

    def test_the_minimal_form_is_one_line(self, run: Run, long_story: SessionDB, home: Path) -> None:
        (home / "config.yaml").write_text("display:\n  resume_display: minimal\n")
        assert run("-c").lines == ["long story · 36 messages · just now"]

    def test_our_own_sessions_go_on_as_messages_for_a_model(self, run: Run, session: New) -> None:
        session(FIRST, "hello")
        assert run("-c").lines[-2:] == [
            "To go on, give its messages to a model:",
            f"  sessiondb resume {FIRST} --json",
        ]
        document = json.loads(run("-c", "--json").out)
        assert document["schema"] == "sessiondb.resume.v1"
        assert [(turn["role"], turn["content"]) for turn in document["conversation"]] == [("user", "hello")]
        assert (document["session"]["id"], document["agent"]) == (FIRST, None)

    def test_unanswered_calls_are_closed_for_the_model(self, run: Run, db: SessionDB) -> None:
        db.create_session(FIRST, "cli")
        db.append_message(FIRST, "assistant", "", tool_calls=call("a"))
        roles = [json.loads(line)["role"] for line in run("-c", "--jsonl").lines]
        assert roles == ["assistant", "tool"]


def on_screen(arguments: list[str], columns: int, environment: dict[str, str]) -> str:
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sessiondb", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "COLUMNS": str(columns), "TERM": "xterm", "SESSIONDB_PAGER": ""},
    )
    os.close(theirs)
    shown = b""
    while select.select([terminal], [], [], 30)[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
    assert process.wait(timeout=30) == 0, shown
    os.close(terminal)
    return shown.decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class TestTerminal:
    @pytest.mark.parametrize("columns", [200, 80, 50, 31, 24])
    def test_every_line_of_the_panel_fits(
        self, long_story: SessionDB, environment: dict[str, str], columns: int
    ) -> None:
        lines = plain(on_screen(["-c"], columns, environment)).splitlines()
        recap = lines[1:-2]
        assert max(map(width, recap)) <= columns
        framed = columns >= 30
        assert recap[0].startswith("╭─ Previous Conversation ─" if columns > 40 else "╭─" if framed else "... 4")
        assert not framed or all(line.startswith("│ ") for line in recap[1:-1])

    def test_people_are_gold_agents_green_and_words_dim(self, session: New, environment: dict[str, str]) -> None:
        session(FIRST, "hello", "hi")
        shown = on_screen(["-c"], 80, environment)
        assert "\x1b[33m●\x1b[0m \x1b[2mhello\x1b[0m" in shown
        assert "\x1b[32m◆\x1b[0m \x1b[2mhi\x1b[0m" in shown

    def test_nothing_stored_commands_the_terminal(self, db: SessionDB, environment: dict[str, str]) -> None:
        db.create_session(FIRST, "cli", origin="codex", native_id="x", cwd="/\x1b[2J/\u202e")
        hostile = "\x1b[31mred\x07\x9b2J\u202egnp"
        db.append_message(FIRST, "user", hostile)
        db.append_message(FIRST, "assistant", hostile, tool_calls=call(hostile))
        shown = plain(on_screen(["-c"], 80, environment))
        assert not any(sign in shown for sign in "\x1b\x07\x9b\u202e")
        assert "● \\x1b[31mred\\x07\\x9b2J\\u202egnp" in shown

    def test_no_color_is_obeyed(self, session: New, environment: dict[str, str]) -> None:
        session(FIRST, "hello")
        assert "\x1b" not in on_screen(["-c"], 80, {**environment, "NO_COLOR": "1"})


@pytest.fixture
def imported(db: SessionDB, tmp_path: Path) -> SessionDB:
    directory = tmp_path / "my project"
    directory.mkdir()
    db.create_session(FIRST, "cli", origin="codex", native_id="0199-abc", cwd=str(directory))
    db.append_message(FIRST, "user", "hello")
    return db


@pytest.fixture
def codex(tmp_path: Path, environment: dict[str, str]) -> str:
    """A PATH with a program that says where and how it was called."""
    tools = tmp_path / "bin"
    tools.mkdir()
    program = tools / "codex"
    program.write_text(
        '#!/bin/sh\nprintf "%s|" "$PWD" "$@"\nawk \'$1 == "SigIgn:" { printf "%s|", $2 }\' /proc/$$/status\n'
        "ls -l /proc/$$/fd | tr '\\n' ' '\nexit 7\n"
    )
    program.chmod(0o755)
    return f"{tools}:{environment['PATH']}"


class TestOtherAgents:
    def test_their_command_and_directory_are_printed(self, run: Run, imported: SessionDB, tmp_path: Path) -> None:
        shown = f"cd {shlex.quote(str(tmp_path / 'my project'))} && codex resume 0199-abc"
        assert run("-c").lines[-2:] == ["Go on with codex (--exec runs it):", f"  {shown}"]
        assert run("-c", "--print").lines == [shown]
        agent = json.loads(run("-c", "--json").out)["agent"]
        assert agent == {
            "name": "codex",
            "command": ["codex", "resume", "0199-abc"],
            "cwd": str(tmp_path / "my project"),
        }

    def test_exec_becomes_the_agent_in_its_directory(
        self, run: Run, imported: SessionDB, codex: str, tmp_path: Path
    ) -> None:
        done = run("-c", "--exec", PATH=codex)
        directory, *arguments, ignored, _ = done.out.split("|")
        assert (done.code, directory, arguments) == (7, str(tmp_path / "my project"), ["resume", "0199-abc"])
        assert not int(ignored, 16) & 1 << signal.SIGPIPE - 1

    def test_the_agent_inherits_no_open_store(self, run: Run, imported: SessionDB, codex: str) -> None:
        held = run("-c", "--exec", PATH=codex).out.split("|")[-1]
        assert "bin/codex" in held
        assert "state" not in held

    def test_an_agent_that_is_not_installed_is_named(self, run: Run, imported: SessionDB) -> None:
        done = run("-c", "--exec", PATH="/nowhere")
        assert done.code == 3
        assert done.err.startswith("sessiondb: codex is not installed here, or not in PATH; it would be: cd ")

    def test_a_directory_that_is_gone_is_named(self, run: Run, imported: SessionDB, codex: str, tmp_path: Path) -> None:
        (tmp_path / "my project").rmdir()
        done = run("-c", "--exec", PATH=codex)
        assert done.code == 3
        assert "is gone; elsewhere: codex resume 0199-abc" in done.err

    def test_what_came_from_nobody_cannot_be_run(self, run: Run, session: New) -> None:
        session("a", "x")
        for option in ("--exec", "--print"):
            done = run("-c", option)
            assert (done.code, done.out) == (2, "")
            assert "came from no other agent" in done.err

    def test_an_agent_that_cannot_resume_is_told_so(self, run: Run, db: SessionDB) -> None:
        db.create_session("a", "cli", origin="chatgpt-export", native_id="1")
        db.append_message("a", "user", "x")
        assert "chatgpt-export cannot resume it. To go on, give its messages to a model:" in run("-c").lines

    def test_a_session_of_another_machine_says_so(self, run: Run, db: SessionDB) -> None:
        db.create_session("a", "cli", origin="codex", native_id="1", host="elsewhere")
        assert "Go on with codex, recorded on elsewhere (--exec runs it):" in run("-c").lines


class TestAgents:
    def row(self, **fields: Any) -> Any:
        with sessiondb.open("memory://") as db:
            db.create_session("a", "cli", **fields)
            return db.get_session("a")

    @pytest.mark.parametrize("agent", sorted(RESUME))
    def test_every_line_hands_over_the_id_as_one_word(self, agent: str) -> None:
        made = resumption(self.row(origin=agent, native_id="two words; rm -rf"))
        assert made is not None
        assert made.command.count("two words; rm -rf") == 1
        assert shlex.split(made.line) == list(made.command)

    def test_every_line_is_of_an_agent_whose_sessions_are_imported_under_that_name(self) -> None:
        assert [agent for agent in RESUME if not registry.has("importers", agent)] == []

    @pytest.mark.parametrize("hostile", ["--dangerously-skip-permissions", "-x", "a\nb", "\x1b[31m"])
    def test_an_id_that_would_be_an_option_is_refused(self, hostile: str) -> None:
        with pytest.raises(Invalid, match="no id to hand to a program"):
            resumption(self.row(origin="claude-code", native_id=hostile))

    def test_other_spellings_of_an_agent_are_known(self) -> None:
        made = resumption(self.row(origin="claude", native_id="x", cwd="/srv"))
        assert made is not None
        assert made.line == "cd /srv && claude --resume x"

    def test_our_own_sessions_have_no_agent(self) -> None:
        assert resumption(self.row()) is None

    def test_a_subagents_session_is_taken_up_where_it_was_begun(self) -> None:
        made = resumption(self.row(origin="claude-code", native_id="agent-c0ffee:1111-2222"))
        assert made is not None
        assert made.command == ("claude", "--resume", "1111-2222")

    def test_a_subagent_of_kimi_too(self) -> None:
        made = resumption(self.row(origin="kimi-code", native_id="scout:k1", relation="subagent"))
        assert made is not None
        assert made.command == ("kimi", "--session", "k1")
