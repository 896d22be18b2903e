"""What tests of the index share: the truth by brute force, and processes beside the test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sessiondb import SessionDB
from sessiondb.models import Filter, Matches, MessageFilter, Page
from sessiondb.provider import SessionDBProvider
from sessiondb.search.query import parse

HERE = Path(__file__).parent
NOW = 1_700_000_000.0
ALL = Page(limit=None)


def asked(db: SessionDB, box: str) -> Matches:
    """What the provider answers, its index included."""
    return db.provider.search(parse(box), Filter(), MessageFilter(), ALL, "newest", NOW)


def scanned(db: SessionDB, box: str) -> set[int]:
    """What is true: every row read."""
    return ids(SessionDBProvider.search(db.provider, parse(box), Filter(), MessageFilter(), ALL, "newest", NOW))


def ids(found: Matches) -> set[int]:
    return {match.message["id"] for match in found.hits}


def say(db: SessionDB, session_id: str, *texts: str) -> list[int]:
    return db.append_messages(session_id, [{"role": "user", "content": text} for text in texts])


@contextmanager
def process(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A script of this directory at work; it ends when its input does."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


def told(child: subprocess.Popen[str], line: str) -> str:
    """Say a line to a script, and wait for what it answers."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(line + "\n")
    child.stdin.flush()
    return child.stdout.readline()


def ran(code: str, *arguments: object) -> None:
    """Python code in a process of its own; raises when it fails."""
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, timeout=60)
