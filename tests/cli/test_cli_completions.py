"""Completion in real shells on a terminal: what is typed, the key, and the line that runs then."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sessiondb.cli import bash_line
from sessiondb.cli.completions import SCRIPTS
from sessiondb.db import SessionDB

Run = Callable[..., Any]
SHELLS = {
    "bash": ["--norc", "--noprofile", "-i"],
    "zsh": ["-f", "-i"],
    "fish": ["--no-config", "-i"],
}
PATIENCE = 20.0
READY = "ready-to-type"


class Terminal:
    """A shell in which completions are loaded."""

    def __init__(self, shell: str, environment: dict[str, str], directory: Path) -> None:
        program = shutil.which(shell)
        assert program, f"{shell} is not installed; tools/setup.sh shells"
        self._screen, theirs = pty.openpty()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", program, *SHELLS[shell]],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment | {"TERM": "dumb" if shell == "fish" else "xterm", "PS1": "$ ", "LANG": "C.UTF-8"},
            cwd=directory,
        )
        os.close(theirs)
        self.seen = ""

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def see(self, text: str) -> None:
        """Wait until the screen has shown the text since the last look."""
        until = time.monotonic() + PATIENCE
        while text not in self.seen:
            assert time.monotonic() < until, f"no {text!r} in {self.seen!r}"
            if select.select([self._screen], [], [], 0.2)[0]:
                self.seen += self._read()
        self.seen = self.seen.partition(text)[2]

    def _read(self) -> str:
        try:
            return os.read(self._screen, 65536).decode(errors="replace")
        except OSError as exc:
            raise AssertionError(f"the shell ended after {self.seen!r}") from exc

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)


@pytest.fixture
def shell_environment(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """A `sessiondb` in PATH that writes down how it was called, unless it is asked to complete."""
    tools = tmp_path / "bin"
    tools.mkdir()
    called = tmp_path / "called"
    script = tools / "sessiondb"
    script.write_text(
        f'#!/bin/sh\nif [ -n "$_SESSIONDB_COMPLETE" ]; then exec "{sys.executable}" -m sessiondb "$@"; fi\n'
        f'for word in "$@"; do printf "%s\\n" "$word"; done > "{called}.part"; mv "{called}.part" "{called}"\n'
        "echo was-called\n"
    )
    script.chmod(0o755)
    return environment | {"PATH": f"{tools}:{environment['PATH']}"}


LOAD = {
    "bash": "source {script}; PS1='$ '; echo ready-to-'type'\n",
    "zsh": "autoload -Uz compinit && compinit -u -D; source {script}; PS1='$ '; echo ready-to-'type'\n",
    "fish": "source {script}; echo ready-to-'type'\n",
}


@pytest.fixture(params=list(SHELLS))
def terminal(request: pytest.FixtureRequest, shell_environment: dict[str, str], tmp_path: Path) -> Iterator[Terminal]:
    script = tmp_path / "script"
    script.write_text(SCRIPTS[request.param])
    made = Terminal(request.param, shell_environment, tmp_path)
    try:
        made.type(LOAD[request.param].format(script=script))
        made.see(READY)
        yield made
    finally:
        made.close()


@pytest.fixture
def completed(terminal: Terminal, tmp_path: Path) -> Callable[[str], list[str]]:
    """The arguments of the command that runs when this is typed, completed, and sent."""

    def complete(line: str) -> list[str]:
        (tmp_path / "called").unlink(missing_ok=True)
        terminal.type(line + "\t\n")
        terminal.see("was-called")
        return (tmp_path / "called").read_text("utf-8").splitlines()

    return complete


@pytest.fixture
def stories(session: Callable[..., str]) -> None:
    session("20250305_091523_a1b2c3d4", "a", title="my project")
    session("20250306_101523_e5f60718", "b", title="fix: the 天气 $HOME of O'Neil", source="telegram")
    session("20250307_111523_00c0ffee", "c")


@pytest.mark.usefixtures("stories")
class TestShells:
    def test_a_title_of_several_words_becomes_one_word(self, completed: Callable[[str], list[str]]) -> None:
        assert completed("sessiondb show my") == ["show", "my project"]

    def test_a_title_is_completed_inside_quotes(self, completed: Callable[[str], list[str]]) -> None:
        assert completed('sessiondb show "my pr') == ["show", "my project"]

    def test_signs_of_all_kinds_arrive_as_they_are(self, completed: Callable[[str], list[str]]) -> None:
        assert completed("sessiondb show fi") == ["show", "fix: the 天气 $HOME of O'Neil"]

    def test_an_id_is_completed(self, completed: Callable[[str], list[str]]) -> None:
        assert completed("sessiondb rename 20250307") == ["rename", "20250307_111523_00c0ffee"]

    def test_commands_options_and_sources_are_completed(self, completed: Callable[[str], list[str]]) -> None:
        assert completed("sessiondb insi") == ["insights"]
        assert completed("sessiondb list --arch") == ["list", "--archived"]
        assert completed("sessiondb list --source tele") == ["list", "--source", "telegram"]

    def test_the_short_form_completes_titles_too(self, completed: Callable[[str], list[str]]) -> None:
        assert completed("sessiondb -c my") == ["-c", "my project"]


def ask(run: Run, *words: str) -> list[str]:
    return [line.split("\t")[1] for line in run(*words, _SESSIONDB_COMPLETE="zsh").lines]


class TestCandidates:
    @pytest.mark.usefixtures("stories")
    def test_without_a_beginning_the_last_active_are_offered(self, run: Run) -> None:
        assert ask(run, "show", "") == ["20250307_111523_00c0ffee", "fix: the 天气 $HOME of O'Neil", "my project"]

    @pytest.mark.usefixtures("stories")
    def test_words_of_a_title_are_completed_one_after_the_other(self, run: Run) -> None:
        assert ask(run, "show", "my", "pro") == ["project"]

    @pytest.mark.usefixtures("stories")
    def test_every_way_to_a_command_completes(self, run: Run) -> None:
        assert ask(run, "sessions", "show", "my") == ask(run, "--db", "", "-r", "my") == ["my project"]
        assert ask(run, "completions", "") == ["bash", "zsh", "fish"]
        assert ask(run, "insights", "--by", "pro") == ["project"]
        assert ask(run, "list", "--source=tele") == ["telegram"]

    def test_no_store_no_candidates_and_no_complaint(self, run: Run) -> None:
        done = run("show", "x", _SESSIONDB_COMPLETE="zsh")
        assert (done.code, done.out, done.err) == (0, "", "")

    def test_nothing_is_created(self, run: Run, home: Path) -> None:
        run("show", "", _SESSIONDB_COMPLETE="fish")
        assert not home.exists()

    def test_hostile_ids_and_previews_do_not_reach_the_terminal(self, run: Run, db: SessionDB) -> None:
        db.create_session("a\x1b[31m", "cli")
        db.create_session("b", "cli")
        db.append_message("b", "user", "\x1b]0;gotcha\x07\u202e\t")
        shown = run("show", "", _SESSIONDB_COMPLETE="zsh").out
        assert "\x1b" not in shown
        assert shown.count("\n") == 1


class TestCommand:
    @pytest.mark.parametrize("shell", list(SCRIPTS))
    def test_the_script_is_printed(self, run: Run, shell: str) -> None:
        assert run("completions", shell).out == SCRIPTS[shell]

    def test_another_shell_is_refused(self, run: Run) -> None:
        done = run("completions", "tcsh")
        assert (done.code, done.err) == (
            2,
            "sessiondb: no completions for 'tcsh'; there are some for bash, zsh, fish\n",
        )


class TestBashLine:
    @pytest.mark.parametrize(
        ("text", "before", "current", "quote", "kept"),
        [
            ("sessiondb ", ["sessiondb"], "", "", 0),
            ("sessiondb  show my\\ pr", ["sessiondb", "show"], "my pr", "", 0),
            ("sessiondb show 'my pr", ["sessiondb", "show"], "my pr", "'", 0),
            ('sessiondb show "a\\"b" c', ["sessiondb", "show", 'a"b'], "c", "", 0),
            ("sessiondb show fix:th", ["sessiondb", "show"], "fix:th", "", 4),
            ("sessiondb show 'fix:th", ["sessiondb", "show"], "fix:th", "'", 0),
            ("sessiondb list --source=te", ["sessiondb", "list"], "--source=te", "", 9),
            ("sessiondb show '' ", ["sessiondb", "show", ""], "", "", 0),
        ],
    )
    def test_a_line_is_read_as_bash_reads_it(
        self, text: str, before: list[str], current: str, quote: str, kept: int
    ) -> None:
        assert bash_line.parsed(text) == bash_line.Line(before, current, quote, kept)

    def test_what_is_written_is_read_back(self) -> None:
        value = "a b'c\"d$e\\f;g|h#i~j*k?l[m]{n}(o)<p>!q&r`s天"
        for text in (bash_line.written(value), f"'{bash_line.written(value, chr(39))}'"):
            done = subprocess.run(
                ["bash", "-c", f"printf %s {text}"], capture_output=True, encoding="utf-8", check=True
            )
            assert done.stdout == value
