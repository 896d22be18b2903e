"""The real command, in a process and a home of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import sessiondb
from sessiondb.db import SessionDB


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Run = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {**kept, "HOME": str(home), "SESSIONDB_HOME": str(home), "TZ": "UTC"}


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Run `sessiondb` with these arguments; no terminal, nothing on stdin."""

    def command(*arguments: str | Path, **env: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "sessiondb", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            env={**environment, **env},
            check=False,
            timeout=60,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return command


@pytest.fixture
def db(home: Path) -> Iterator[SessionDB]:
    """The default store of the home, to write what a command shall see."""
    with sessiondb.open(home / "state.db", synchronous="NORMAL") as opened:
        yield opened


@pytest.fixture
def session(db: SessionDB) -> Callable[..., str]:
    """Create a session with one message per text, by turns of the user and the assistant."""

    def create(session_id: str, *texts: str, source: str = "cli", title: str | None = None, **times: float) -> str:
        db.create_session(session_id, source, **times)
        for number, text in enumerate(texts):
            db.append_message(session_id, ("user", "assistant")[number % 2], text, timestamp=times.get("started_at"))
        if title is not None:
            db.set_session_title(session_id, title)
        return session_id

    return create


PATIENCE = 30.0
Act = Callable[["subprocess.Popen[bytes]", int], object]


@pytest.fixture
def on_terminal(environment: dict[str, str]) -> Callable[[list[str], Act], tuple[int, str]]:
    """Run `sessiondb` on a terminal, act when it asks, and return its exit code and all it showed."""

    def command(arguments: list[str], act: Act) -> tuple[int, str]:
        terminal, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "sessiondb", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
        os.close(theirs)
        try:
            shown = _read_until(terminal, b"]: ")
            _wait_until_it_reads(process.pid)
            act(process, terminal)
            shown += _read_until(terminal, None)
            return process.wait(timeout=30), shown.decode()
        finally:
            process.kill()
            process.wait()
            os.close(terminal)

    return command


Terminal = Callable[..., tuple[int, str]]


@pytest.fixture
def at_width(environment: dict[str, str]) -> Terminal:
    """Run `sessiondb` on a terminal of so many columns; its exit code, and what it sent there."""

    def command(columns: int, *arguments: str | Path, rows: int = 200, **env: str) -> tuple[int, str]:
        terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-m", "sessiondb", *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm-256color", **env},
        )
        os.close(theirs)
        try:
            shown = _read_until(terminal, None)
            return process.wait(timeout=30), shown.decode().replace("\r\n", "\n")
        finally:
            process.kill()
            process.wait()
            os.close(terminal)

    return command


def _wait_until_it_reads(pid: int) -> None:
    """A signal that comes just before the read begins would not end it."""
    until = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        assert time.monotonic() < until, "the program does not wait for an answer"
        time.sleep(0.01)


def _read_until(terminal: int, end: bytes | None) -> bytes:
    """What the terminal shows up to `end`, or until the program is gone."""
    shown = b""
    while end is None or not shown.endswith(end):
        assert select.select([terminal], [], [], PATIENCE)[0], f"nothing more after {shown!r}"
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the other side is closed
            break
    return shown
