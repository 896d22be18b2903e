"""`sessiondb browse` in a real terminal: the full screen, the numbered list, and what Enter begins."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE = 30.0
STYLE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
WITHOUT_TEXTUAL = (
    "import sys; sys.modules['textual'] = None; from sessiondb.cli.running import run; sys.exit(run(sys.argv[1:]))"
)


class Terminal:
    """A program on a terminal of 80x24."""

    def __init__(self, command: list[str], environment: dict[str, str], cwd: Path) -> None:
        self.master, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm-256color"},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(theirs)
        self.sent = b""

    def until(self, text: str) -> str:
        """All that was sent, when this text is among it."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown and time.monotonic() < end:
            if not self._read():
                break
        assert text in self.shown, self.shown[-3000:]
        return self.shown

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def left(self) -> tuple[int, str]:
        """Exit code and all that was sent, when it has ended."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._read():
            pass
        return self.process.wait(timeout=PATIENCE), self.shown

    @property
    def shown(self) -> str:
        return STYLE.sub("", self.sent.decode(errors="replace"))

    def _read(self) -> bool:
        if not select.select([self.master], [], [], 0.2)[0]:
            return True
        try:
            got = os.read(self.master, 65536)
        except OSError:  # the other side is closed
            return False
        self.sent += got
        return bool(got)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


Opens = Callable[..., "contextmanager[Terminal]"]


@pytest.fixture
def opens(environment: dict[str, str], tmp_path: Path) -> Opens:
    @contextmanager
    def open_it(*arguments: str, code: str | None = None, **env: str) -> Iterator[Terminal]:
        program = ["-c", code] if code else ["-m", "sessiondb"]
        terminal = Terminal([sys.executable, *program, "browse", *arguments], {**environment, **env}, tmp_path)
        try:
            yield terminal
        finally:
            terminal.close()

    return open_it


@pytest.fixture
def stocked(session, db) -> None:
    now = time.time()
    session("20250301_101500_aaaaaaaa", "Why 502?", "The socket is missing.", title="nginx 502", started_at=now - 90)
    session("20250302_101500_bbbbbbbb", "東京の天気は？", "晴れです 🇯🇵", source="telegram", started_at=now - 30)


def test_enter_shows_how_it_ended_and_how_to_go_on(opens: Opens, stocked) -> None:
    with opens() as terminal:
        terminal.until("2 sessions")
        terminal.until("晴れです")
        terminal.press("j\r")
        code, shown = terminal.left()
    ended = shown.split("nginx 502 · 2 messages")[-1]
    assert code == 0
    assert "Previous Conversation" in ended
    assert "The socket is missing." in ended
    assert "sessiondb resume 20250301_101500_aaaaaaaa --json" in ended


def test_enter_begins_the_other_agent_where_the_session_was(opens: Opens, db, tmp_path: Path) -> None:
    work, programs = tmp_path / "work", tmp_path / "bin"
    work.mkdir()
    programs.mkdir()
    agent = programs / "claude"
    agent.write_text('#!/bin/sh\necho "agent in $(pwd) with $*"\n')
    agent.chmod(0o755)
    db.create_session("a", "cli", origin="claude-code", native_id="n-1", cwd=str(work))
    db.append_message("a", "user", "hello there")
    with opens(PATH=f"{programs}:{os.environ['PATH']}") as terminal:
        terminal.until("hello there")
        terminal.press("\r")
        code, shown = terminal.left()
    assert code == 0
    assert f"agent in {work} with --resume n-1" in shown
    # The screen is left before the agent begins.
    assert terminal.sent.rindex(b"\x1b[?1049l") < terminal.sent.index(b"agent in")


def test_copying_speaks_to_the_terminal(opens: Opens, stocked) -> None:
    with opens() as terminal:
        terminal.until("晴れです")
        terminal.press("y")
        terminal.until("Copied the id")
        terminal.press("q")
        assert terminal.left()[0] == 0
    assert b"\x1b]52;c;MjAyNTAzMDJfMTAxNTAwX2JiYmJiYmJi\x07" in terminal.sent


def test_a_search_can_be_given(opens: Opens, stocked) -> None:
    with opens("socket", "--source", "cli") as terminal:
        terminal.until("1 session")
        terminal.until("hit 1/1")
        terminal.press("q")
        assert terminal.left()[0] == 0


def test_what_is_stored_commands_no_terminal(opens: Opens, db) -> None:
    db.create_session("a", "cli")
    db.append_message("a", "user", "\x1b]0;owned\x07\x1b[2J\x9b31m [@click=app.exit]x")
    with opens() as terminal:
        terminal.until("[@click")
        terminal.press("q")
        assert terminal.left()[0] == 0
    assert b"\x1b]0;owned" not in terminal.sent
    assert b"\\x1b]0;owned" in terminal.sent


def test_a_shared_store_is_opened_read_only(opens: Opens, stocked, db, home: Path) -> None:
    with opens("--read-only") as terminal:
        terminal.until("read-only")
        terminal.press("d")
        terminal.until("nothing can be changed here")
        terminal.press("q")
        assert terminal.left()[0] == 0
    assert db.session_count() == 2


def test_nothing_is_created_by_looking(opens: Opens, home: Path) -> None:
    with opens() as terminal:
        terminal.until("No sessions yet")
        terminal.press("q")
        assert terminal.left()[0] == 0
    assert not home.exists()


def test_ctrl_c_leaves_the_terminal_as_it_was(opens: Opens, stocked) -> None:
    with opens() as terminal:
        terminal.until("晴れです")
        terminal.press("\x03")
        code, _ = terminal.left()
    assert code == 0
    for undone in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l"):
        assert undone in terminal.sent


# --- the numbered list ---


def test_without_textual_sessions_have_numbers(opens: Opens, stocked) -> None:
    with opens(code=WITHOUT_TEXTUAL) as terminal:
        terminal.until("pip install 'sessiondb[tui]'")
        terminal.until("q to quit: ")
        terminal.press("socket\n")
        terminal.until("best match")
        terminal.press("7\n")
        terminal.until("This list has 1 session.")
        terminal.press("1\n")
        code, shown = terminal.left()
    assert code == 0
    assert "  2 nginx 502" in shown
    assert "The socket is missing." in shown.split("Previous Conversation")[-1]


def test_the_numbered_list_goes_on_and_ends(opens: Opens, session) -> None:
    for number in range(20):
        session(f"s{number:02d}", f"text {number}")
    with opens("--plain") as terminal:
        terminal.until(" 15 ")
        terminal.until("q to quit: ")
        terminal.press("\n")
        terminal.until(" 20 ")
        terminal.press("q\n")
        assert terminal.left()[0] == 0


def test_without_a_terminal_the_list_is_printed(run, stocked) -> None:
    done = run("browse")
    assert (done.code, done.err) == (0, "")
    assert "  1 東京の天気は？  telegram · just now" in done.out
    assert "  2 nginx 502  cli · " in done.out
    assert "Nothing found." in run("browse", "unheard").out
    assert run("browse", "--scope", "nowhere").code == 2


def test_a_named_store_must_exist(run, tmp_path: Path) -> None:
    done = run("browse", "--db", tmp_path / "none.db")
    assert done.code == 3
    assert "no store at" in done.err
