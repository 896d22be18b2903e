"""SIGINT and SIGTERM at any moment leave a clean store, and Ctrl-C a handle that works."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import acknowledged
import pytest
from actors import wait_for, wait_for_file
from inside import integrity, writer_of
from interrupts import Interrupter
from nursery import Nursery
from scale import scaled

from conftest import Say
from sessiondb import SessionDB
from sessiondb.backends.sqlite import locks

pytestmark = pytest.mark.alone

MOST_MOMENTS = 2000
INTERRUPTS = scaled(300, 20_000)
TERMS = scaled(20, 1000)


def gate_is_free(path: Path) -> bool:
    descriptor = os.open(f"{path}.lock", os.O_RDWR)
    try:
        return locks.try_lock(descriptor)
    finally:
        os.close(descriptor)


def is_free(db: SessionDB, path: Path) -> bool:
    """No transaction left open, no lock kept, nobody believed to be at it."""
    return not writer_of(db).connection.in_transaction and gate_is_free(path)


class TestCtrlC:
    def test_at_every_moment_of_an_append_the_handle_works_afterwards(self, fast_path: Path, say: Say) -> None:
        path = fast_path / "state.db"
        moment, interrupted = 0, True
        with SessionDB(path, deadline=1.0) as db:
            db.create_session("a", "cli")
            while interrupted:
                moment += 1
                key = str(moment)
                interrupter = Interrupter(moment)
                interrupted = interrupter.run(lambda key=key: db.append_message("a", "user", key, message_key=key))  # type: ignore[misc]
                assert is_free(db, path), f"stuck after Ctrl-C at {interrupter.place}"
                db.append_message("a", "user", key, message_key=key)
                assert moment < MOST_MOMENTS
            stored = [row["content"] for row in db.get_messages("a")]
            assert stored == [str(number) for number in range(1, moment + 1)]
            assert db.verify().problems == []
        say("Ctrl-C at every moment of an append", moments=moment - 1, stuck=0)
        assert integrity(path) == "ok"

    def test_at_every_moment_of_a_read_the_next_one_is_fresh(self, fast_path: Path, say: Say) -> None:
        moment, interrupted = 0, True
        with SessionDB(fast_path / "state.db", readers=1) as db:
            db.create_session("a", "cli")
            while interrupted:
                moment += 1
                interrupted = Interrupter(moment).run(lambda: db.get_messages("a"))
                db.append_message("a", "user", str(moment))
                assert db.get_messages("a")[-1]["content"] == str(moment)
                assert moment < MOST_MOMENTS
        say("Ctrl-C at every moment of a read", moments=moment - 1, stuck=0)

    def test_again_and_again_in_a_program_with_threads(
        self, path: Path, tmp_path: Path, nursery: Nursery, say: Say
    ) -> None:
        lanes = ["main", "one", "two"]
        with SessionDB(path) as db:
            for lane in lanes:
                db.create_session(lane, "cli")
        chance = random.Random(3)
        pid = nursery.start("append_through_interrupts", path, lanes, tmp_path, tmp_path / "ready")
        wait_for_file(tmp_path / "ready")
        for _ in range(INTERRUPTS):
            time.sleep(chance.uniform(0.0, 0.01))
            nursery.kill(pid, signal.SIGINT)
        (tmp_path / "stop").touch()
        assert nursery.wait(pid) == 0, nursery.complaints()
        with SessionDB(path) as db:
            for lane in lanes:
                stored = [row["content"] for row in db.get_messages(lane)]
                acked = acknowledged.numbers(tmp_path, lane)
                assert acked == list(range(len(acked)))
                assert stored == [acknowledged.text(lane, number) for number in acked]
            assert db.verify().problems == []
        caught = int((tmp_path / "caught").read_text())
        say("Ctrl-C in a program with threads", sent=INTERRUPTS, caught=caught, lost=0, doubled=0)
        assert caught > 0


class TestTerm:
    @pytest.mark.parametrize("actor", ["append_until_term", "lanes"], ids=["closes in an orderly way", "just dies"])
    def test_at_any_moment_the_store_is_clean(
        self, path: Path, tmp_path: Path, nursery: Nursery, actor: str, say: Say
    ) -> None:
        names = ["main", "thread"]
        with SessionDB(path) as db:
            for name in names:
                db.create_session(name, "cli")
        chance = random.Random(5)
        for _ in range(TERMS):
            before = len(acknowledged.numbers(tmp_path, "main"))
            pid = nursery.start(actor, path, names, tmp_path)
            wait_for(lambda before=before: len(acknowledged.numbers(tmp_path, "main")) > before, "an append")  # type: ignore[misc]
            time.sleep(chance.uniform(0.0, 0.01))
            nursery.kill(pid, signal.SIGTERM)
            assert nursery.wait(pid) == (0 if actor == "append_until_term" else -signal.SIGTERM), nursery.complaints()
        assert integrity(path) == "ok"
        with SessionDB(path) as db:
            for name in names:
                stored = [row["content"] for row in db.get_messages(name)]
                assert stored == [acknowledged.text(name, number) for number in range(len(stored))]
                assert len(stored) >= len(acknowledged.numbers(tmp_path, name))
            assert db.verify().problems == []
        say(f"SIGTERM, {actor}", times=TERMS, acknowledged=len(acknowledged.numbers(tmp_path, "main")), lost=0)
