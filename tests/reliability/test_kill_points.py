"""Killed at a named place, a store holds every step before it entirely, and nothing of the one after it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import acknowledged
import pytest
import story
from inside import integrity

from sessiondb import SessionDB
from sessiondb.backends.sqlite import engine

pytestmark = pytest.mark.alone


def told(path: Path, acks: Path, first: int = 0, **environment: str) -> int:
    """Tell the story in a process of its own; its exit code."""
    command = [sys.executable, story.__file__, str(path), str(acks), str(first)]
    return subprocess.run(command, env={**os.environ, **environment}, check=False).returncode


def told_until(path: Path, acks: Path, point: str, passes: int) -> None:
    assert told(path, acks, SESSIONDB_KILL_POINT=point, SESSIONDB_KILL_AFTER=str(passes)) == -9


def held(path: Path) -> list[object]:
    with SessionDB(path, clock=story.clock) as db:
        assert db.verify().problems == []
        return story.contents(db)


@pytest.mark.parametrize("step", range(len(story.NAMES)), ids=story.NAMES)
class TestCommits:
    def test_before_the_commit_nothing_of_the_step_is_there(self, path: Path, tmp_path: Path, step: int) -> None:
        told_until(path, tmp_path, "before commit", step)
        assert acknowledged.numbers(tmp_path, story.LANE) == list(range(step))
        assert held(path) == story.expected(step)
        assert told(path, tmp_path, step) == 0
        assert held(path) == story.expected(len(story.NAMES))
        assert integrity(path) == "ok"

    def test_after_the_commit_all_of_the_step_is_there(self, path: Path, tmp_path: Path, step: int) -> None:
        told_until(path, tmp_path, "after commit", step)
        assert acknowledged.numbers(tmp_path, story.LANE) == list(range(step))
        assert held(path) == story.expected(step + 1)
        assert integrity(path) == "ok"


APPEND = """
import sys, sessiondb
db = sessiondb.open(sys.argv[1])
for number in range(100):
    db.append_message("a", "user", str(number))
"""


class TestCheckpoints:
    """The first checkpoint comes after so many writes: the one that follows the last commit before it."""

    @pytest.mark.parametrize(
        ("point", "passes"), [("after commit", engine.CHECKPOINT_EVERY - 1), ("after checkpoint", 0)]
    )
    def test_around_a_checkpoint_all_messages_are_there(self, path: Path, point: str, passes: int) -> None:
        with SessionDB(path) as db:
            db.create_session("a", "cli")
        environment = {**os.environ, "SESSIONDB_KILL_POINT": point, "SESSIONDB_KILL_AFTER": str(passes)}
        killed = subprocess.run([sys.executable, "-c", APPEND, str(path)], env=environment, check=False)
        assert killed.returncode == -9
        with SessionDB(path) as db:
            stored = [row["content"] for row in db.get_messages("a")]
            assert stored == [str(number) for number in range(engine.CHECKPOINT_EVERY)]
            assert db.verify().problems == []
        assert integrity(path) == "ok"


RETRY = """
import sys, sessiondb
db = sessiondb.open(sys.argv[1])
db.append_message("a", "user", "only once", message_key=sys.argv[2] or None)
"""


class TestRetries:
    """A writer dies after the commit and before it could say so; its successor sends the message again."""

    def sent_twice(self, path: Path, key: str) -> list[str]:
        with SessionDB(path) as db:
            db.create_session("a", "cli")
        command = [sys.executable, "-c", RETRY, str(path), key]
        killed = subprocess.run(command, env={**os.environ, "SESSIONDB_KILL_POINT": "after commit"}, check=False)
        assert killed.returncode == -9
        subprocess.run(command, check=True)
        with SessionDB(path) as db:
            return [row["content"] for row in db.get_messages("a")]

    def test_with_a_key_it_is_stored_once(self, path: Path) -> None:
        assert self.sent_twice(path, "k1") == ["only once"]

    def test_without_a_key_it_is_doubled(self, path: Path) -> None:
        assert self.sent_twice(path, "") == ["only once", "only once"]
