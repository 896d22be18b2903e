"""Threads of one process share commits, and each is answered after the COMMIT that holds its work."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import acknowledged
import pytest
from inside import writer_of

from conftest import Say
from sessiondb import SessionDB, errors

pytestmark = pytest.mark.alone

THREADS = 16
APPENDS = 100


def all_at_once(work: object) -> None:
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        start.wait()
        work(number)  # type: ignore[operator]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def test_many_threads_need_fewer_commits_than_writes(path: Path, say: Say) -> None:
    with SessionDB(path) as db:
        for number in range(THREADS):
            db.create_session(str(number), "cli")
        writer = writer_of(db)
        commits, jobs = writer.commits, writer.jobs

        def append(number: int) -> None:
            for place in range(APPENDS):
                db.append_message(str(number), "user", acknowledged.text(str(number), place))

        all_at_once(append)
        commits, jobs = writer.commits - commits, writer.jobs - jobs
        say(f"{THREADS} threads", appends=jobs, commits=commits)
        assert jobs == THREADS * APPENDS
        assert commits < jobs
        for number in range(THREADS):
            stored = [row["content"] for row in db.get_messages(str(number))]
            assert stored == [acknowledged.text(str(number), place) for place in range(APPENDS)]
        assert db.verify().problems == []


def test_every_thread_gets_its_own_answer(path: Path) -> None:
    """Half of them are mistaken, all the time; the others notice nothing."""
    with SessionDB(path) as db:
        db.create_session("a", "cli")
        answers: dict[int, set[object]] = {number: set() for number in range(THREADS)}

        def append(number: int) -> None:
            for place in range(50):
                try:
                    sent = db.append_message("a" if number % 2 else "nowhere", "user", f"{number}:{place}")
                    answers[number].add((db.provider.get_message(sent) or {}).get("content") == f"{number}:{place}")
                except errors.NotFound as exc:
                    answers[number].add(type(exc))

        all_at_once(append)
        assert all(answers[number] == ({True} if number % 2 else {errors.NotFound}) for number in range(THREADS))
        assert db.message_count("a") == 50 * THREADS // 2
        assert db.verify().problems == []


ACKNOWLEDGE = """
import sys, threading
import sessiondb, acknowledged
from inside import transact

path, acks, when = sys.argv[1:]
db = sessiondb.open(path)
done = {name: acknowledged.Acknowledged(acks, name) for name in ("a", "b", "c")}

INSERT = "INSERT INTO messages (session_id, role, content, timestamp) VALUES (:name, 'user', :text, 0)"

def append(name):
    for number in range(40):
        if when == "in time":
            db.append_message(name, "user", str(number))
            done[name].add(number)
        else:
            transact(db, lambda tx: (tx.run(INSERT, {"name": name, "text": str(number)}), done[name].add(number)))

threads = [threading.Thread(target=append, args=(name,)) for name in done]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


class TestAcknowledgement:
    """Killed just before a COMMIT, with the works of several threads in it."""

    def unstored(self, path: Path, tmp_path: Path, when: str) -> int:
        """How many acknowledged messages are not there after the kill."""
        with SessionDB(path) as db:
            for name in "abc":
                db.create_session(name, "cli")
        environment = {
            **os.environ,
            "SESSIONDB_KILL_POINT": "before commit",
            "SESSIONDB_KILL_AFTER": "10",
            "PYTHONPATH": str(Path(__file__).parent),
        }
        command = [sys.executable, "-c", ACKNOWLEDGE, str(path), str(tmp_path), when]
        assert subprocess.run(command, env=environment, check=False).returncode == -9
        with SessionDB(path) as db:
            assert db.verify().problems == []
            return sum(max(0, len(acknowledged.numbers(tmp_path, name)) - len(db.get_messages(name))) for name in "abc")

    def test_after_the_commit_nothing_acknowledged_is_lost(self, path: Path, tmp_path: Path) -> None:
        assert self.unstored(path, tmp_path, "in time") == 0

    def test_acknowledged_inside_the_transaction_messages_would_be_lost(self, path: Path, tmp_path: Path) -> None:
        assert self.unstored(path, tmp_path, "too early") >= 1
