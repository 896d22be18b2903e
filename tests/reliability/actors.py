"""What processes around a store do; each function is called in a process of its own by the nursery."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import acknowledged
import failing_disk
import story
from inside import engine_of, transact, writer_of

from sessiondb import errors
from sessiondb.backends.sqlite import connection
from sessiondb.db import SessionDB
from sessiondb.sql.driver import Tx

_WAIT = """
import os, sys, time
open(sys.argv[1], "w").close()
until = time.monotonic() + 30
while not os.path.exists(sys.argv[2]) and time.monotonic() < until:
    time.sleep(0.01)
"""


def wait_for(condition: Callable[[], bool], what: str, patience: float = 30.0) -> None:
    until = time.monotonic() + patience
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {patience:g} s for {what}")
        time.sleep(0.001)


def wait_for_file(path: str | Path, patience: float = 30.0) -> None:
    wait_for(lambda: os.path.exists(path), str(path), patience)


def sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def count(path: str, into: str) -> None:
    """How many messages a process sees that comes new."""
    with SessionDB(path) as db:
        Path(into).write_text(str(sum(len(db.get_messages(row["id"])) for row in db.list_sessions_rich(limit=1000))))


# --- writers that are killed ---


def lanes(path: str, names: list[str], acks: str) -> None:
    """Append for ever, a thread for each lane, in a program that also opens the file by hand all the time."""
    db = SessionDB(path)
    threading.Thread(target=_open_by_hand, args=(path, f"{acks}/{names[0]}.opens"), daemon=True).start()
    for name in names[1:]:
        threading.Thread(target=_lane, args=(db, name, acks), daemon=True).start()
    _lane(db, names[0], acks)


def _lane(db: SessionDB, name: str, acks: str) -> None:
    number = acknowledged.next_number(acks, name)
    done = acknowledged.Acknowledged(acks, name)
    while True:
        said = acknowledged.text(name, number)
        db.append_message(name, "user", said, message_key=acknowledged.key(name, number))
        done.add(number)
        number += 1


def _open_by_hand(path: str, counts: str) -> None:
    with open(counts, "ab", buffering=0) as file:
        while True:
            open(path, "rb").close()
            file.write(b".")
            time.sleep(0.001)


def visit_always(path: str, counts: str) -> None:
    """Open, read, close, like a command that somebody types."""
    with open(counts, "wb", buffering=0) as file:
        while True:
            with SessionDB(path) as db:
                db.message_count()
            file.write(b".")
            time.sleep(0.002)


# --- writers that are timed ---


def append_timed(path: str, name: str, count: int, start: float, into: str, **options: Any) -> None:
    """Append and note how long each took, and what went wrong."""
    with SessionDB(path, **options) as db:
        db.create_session(name, "cli")
        sleep_until(start)
        took, failures = [], []
        for number in range(count):
            begun = time.perf_counter()
            try:
                db.append_message(name, "user", acknowledged.text(name, number))
            except errors.SessionDBError as exc:
                failures.append(repr(exc))
            took.append(time.perf_counter() - begun)
        finished = time.monotonic() - start
    Path(into).write_text(json.dumps({"took": took, "errors": failures, "seconds": finished}))


def open_at(path: str, name: str, start: float) -> None:
    sleep_until(start)
    with SessionDB(path) as db:
        db.create_session(name, "cli")
        db.append_message(name, "user", "here")


def hold(path: str, held: str, release: str) -> None:
    """Stay inside a transaction until the file `release` is there."""

    def work(tx: Tx) -> None:
        tx.run("UPDATE sessions SET title = NULL")
        Path(held).touch()
        wait_for_file(release)

    with SessionDB(path) as db:
        transact(db, work)


def read_always(path: str, name: str, ready: str) -> None:
    with SessionDB(path, read_only=True) as db:
        Path(ready).touch()
        while True:
            db.get_messages(name, limit=200, newest=True)


# --- forks ---


def hold_the_gate_and_fork(path: str, forked: str, release: str) -> None:
    """Fork inside a transaction, then die; the child lives on until `release` and must not keep the gate."""

    def work(tx: Tx) -> None:
        if os.fork() == 0:
            Path(forked).touch()
            wait_for_file(release)
            os._exit(0)
        wait_for_file(forked)
        os.kill(os.getpid(), signal.SIGKILL)

    with SessionDB(path) as db:
        transact(db, work)


def fork_and_write_on_both_sides(path: str, count: int) -> None:
    """A child goes on with the handle it inherited, while its parent does too."""
    db = SessionDB(path)
    db.create_session("parent", "cli")
    db.create_session("child", "cli")
    db.append_message("parent", "user", "before the fork")
    pid = os.fork()
    name = "parent" if pid else "child"
    for number in range(count):
        db.append_message(name, "user", acknowledged.text(name, number))
    db.close()
    if pid == 0:
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        raise RuntimeError("the child failed")


def hold_the_gate_and_exec(path: str, executed: str, release: str) -> None:
    """Start another program inside a transaction, then die; the program must not keep the gate."""

    def work(tx: Tx) -> None:
        subprocess.Popen([sys.executable, "-c", _WAIT, executed, release], close_fds=False)
        wait_for_file(executed)
        os.kill(os.getpid(), signal.SIGKILL)

    with SessionDB(path) as db:
        transact(db, work)


def append(path: str, name: str, count: int, **options: Any) -> None:
    with SessionDB(path, **options) as db:
        for number in range(count):
            db.append_message(name, "user", acknowledged.text(name, number))


def tell_and_die(path: str, operation: str, call: int) -> None:
    """One step of the story, or a checkpoint after one, on a disk that ends with that write or sync."""
    disk = failing_disk.Disk()
    connection.VFS_NAME = failing_disk.NAME
    db = SessionDB(path, clock=story.clock)
    if operation == "checkpoint":
        story.STEPS["go on"](db)
        disk.fail("kill", call, lasting=False)
        engine_of(db).checkpoint(writer_of(db).connection)
    else:
        disk.fail("kill", call, lasting=False)
        story.STEPS[operation](db)
    disk.heal()
    db.close()


# --- signals ---


def append_through_interrupts(path: str, names: list[str], acks: str, ready: str) -> None:
    """Ctrl-C never ends this program: it sends the message again under its key and goes on, until `stop` is there."""
    with SessionDB(path, deadline=10.0) as db:
        threads = [threading.Thread(target=_until_stop, args=(db, name, acks)) for name in names[1:]]
        for thread in threads:
            thread.start()
        caught = _append_stubbornly(db, names[0], acks, ready)
        for thread in threads:
            thread.join()
    Path(acks, "caught").write_text(str(caught))


def _until_stop(db: SessionDB, name: str, acks: str) -> None:
    done = acknowledged.Acknowledged(acks, name)
    number = 0
    while not os.path.exists(f"{acks}/stop"):
        db.append_message(name, "user", acknowledged.text(name, number))
        done.add(number)
        number += 1


def _append_stubbornly(db: SessionDB, name: str, acks: str, ready: str) -> int:
    done = acknowledged.Acknowledged(acks, name)
    interruptible = _Interruptible()
    number = 0
    Path(ready).touch()
    while not os.path.exists(f"{acks}/stop"):
        said, key = acknowledged.text(name, number), acknowledged.key(name, number)
        while not interruptible.call(lambda said=said, key=key: db.append_message(name, "user", said, message_key=key)):  # type: ignore[misc]
            pass
        done.add(number)
        number += 1
    return interruptible.caught


class _Interruptible:
    """Takes SIGINT during a call, once; at other times it would only disturb the test's own bookkeeping."""

    def __init__(self) -> None:
        self.caught = 0
        self._armed = False
        signal.signal(signal.SIGINT, self._interrupt)

    def call(self, work: Callable[[], object]) -> bool:
        try:
            self._armed = True
            work()
            self._armed = False
            return True
        except KeyboardInterrupt:
            self.caught += 1
            return False

    def _interrupt(self, number: int, frame: object) -> None:
        if self._armed:
            self._armed = False
            raise KeyboardInterrupt


def append_until_term(path: str, names: list[str], acks: str) -> None:
    """A program that closes its store when it is told to end."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with SessionDB(path) as db:
        for name in names[1:]:
            threading.Thread(target=_lane_until_closed, args=(db, name, acks), daemon=True).start()
        _lane(db, names[0], acks)


def _lane_until_closed(db: SessionDB, name: str, acks: str) -> None:
    with suppress(errors.Closed):
        _lane(db, name, acks)
