"""The gate: one writer at a time among all processes, first come, first served, and nobody keeps it by accident."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from actors import wait_for
from inside import engine_of, transact
from nursery import Nursery

from sessiondb import SessionDB, errors
from sessiondb.backends.sqlite import locks
from sessiondb.backends.sqlite.gate import Gate
from sessiondb.sql.driver import Tx

pytestmark = pytest.mark.alone

SOON = 0.1
LONG = 30.0


def until(seconds: float) -> float:
    return time.monotonic() + seconds


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(str(tmp_path / "state.db.lock"))
    yield made
    made.close()


@pytest.fixture
def rival(tmp_path: Path) -> Iterator[Gate]:
    """A gate of another owner: open-file-description locks exclude each other within one process too."""
    made = Gate(str(tmp_path / "state.db.lock"))
    yield made
    made.close()


def in_background(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


class TestLock:
    def test_it_excludes(self, gate: Gate, rival: Gate) -> None:
        assert gate.enter(until(SOON))
        assert not rival.enter(until(SOON))
        gate.leave()

    def test_a_waiter_gets_it_when_it_is_free(self, gate: Gate, rival: Gate) -> None:
        assert gate.enter(until(SOON))
        waiting = in_background(lambda: rival.enter(until(LONG)))
        wait_for(lambda: rival._waiting_in_kernel, "the wait in the kernel")
        gate.leave()
        waiting.join(LONG)
        assert not gate.enter(until(SOON))
        rival.leave()
        assert gate.enter(until(LONG))
        gate.leave()

    def test_after_busy_the_lock_that_arrives_is_released(self, gate: Gate, rival: Gate) -> None:
        assert gate.enter(until(SOON))
        assert not rival.enter(until(SOON))
        gate.leave()
        wait_for(lambda: not rival._waiting_in_kernel, "the gate thread to let go")
        assert gate.enter(until(SOON))
        gate.leave()

    def test_after_busy_the_same_gate_works(self, gate: Gate, rival: Gate) -> None:
        assert gate.enter(until(SOON))
        assert not rival.enter(until(SOON))
        gate.leave()
        for _ in range(3):
            assert rival.enter(until(LONG))
            rival.leave()

    def test_a_waiter_may_come_back_while_the_first_wait_goes_on(self, gate: Gate, rival: Gate) -> None:
        assert gate.enter(until(SOON))
        for _ in range(3):
            assert not rival.enter(until(SOON / 5))
        waiting = in_background(lambda: rival.enter(until(LONG)))
        gate.leave()
        waiting.join(LONG)
        assert not waiting.is_alive()
        rival.leave()

    def test_those_who_wait_are_served_in_turn(self, tmp_path: Path, gate: Gate) -> None:
        """Were it not fair, a waiter could be overtaken for ever."""
        assert gate.enter(until(SOON))
        served: list[int] = []
        rivals = [Gate(str(tmp_path / "state.db.lock")) for _ in range(6)]

        def pass_through(number: int) -> None:
            assert rivals[number].enter(until(LONG))
            served.append(number)
            rivals[number].leave()

        threads = []
        for number, rival in enumerate(rivals):
            threads.append(in_background(lambda number=number: pass_through(number)))  # type: ignore[misc]
            wait_for(lambda rival=rival: rival._waiting_in_kernel, "the wait in the kernel")  # type: ignore[misc]
            time.sleep(0.01)  # the flag is set just before the system call
        gate.leave()
        for thread in threads:
            thread.join(LONG)
        assert served == list(range(6))
        for rival in rivals:
            rival.close()

    def test_closing_ends_its_thread(self, tmp_path: Path, gate: Gate) -> None:
        rival = Gate(str(tmp_path / "state.db.lock"))
        assert gate.enter(until(SOON))
        assert not rival.enter(until(SOON))
        rival.close()
        gate.leave()
        assert rival._thread is not None
        rival._thread.join(LONG)
        assert not rival._thread.is_alive()


class TestForks:
    @pytest.fixture
    def store(self, path: Path) -> Path:
        with SessionDB(path) as db:
            db.create_session("a", "cli")
        return path

    @pytest.mark.parametrize("actor", ["hold_the_gate_and_fork", "hold_the_gate_and_exec"])
    def test_a_child_of_a_dead_holder_keeps_nobody_out(
        self, store: Path, tmp_path: Path, nursery: Nursery, actor: str
    ) -> None:
        holder = nursery.start(actor, store, tmp_path / "begun", tmp_path / "release")
        assert nursery.wait(holder) == -9, nursery.complaints()
        try:
            with SessionDB(store, deadline=1.0) as db:
                db.append_message("a", "user", "free")
        finally:
            (tmp_path / "release").touch()

    def test_a_child_with_a_copy_of_the_descriptor_would(self, tmp_path: Path) -> None:
        """What the gate avoids by closing its descriptor in children: the lock lives as long as the last copy."""
        first, second = (os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR, 0o600) for _ in range(2))
        assert locks.try_lock(first)
        copy = os.dup(first)  # a fork makes such a copy
        os.close(first)
        assert not locks.try_lock(second)
        os.close(copy)
        assert locks.try_lock(second)
        os.close(second)

    def test_parent_and_child_go_on_with_the_same_handle(self, store: Path, nursery: Nursery) -> None:
        pid = nursery.start("fork_and_write_on_both_sides", store, 50)
        assert nursery.wait(pid) == 0, nursery.complaints()
        with SessionDB(store) as db:
            assert (db.message_count("parent"), db.message_count("child")) == (51, 50)
            assert db.verify().problems == []


class TestEngine:
    def test_two_spellings_of_a_path_share_one_engine(self, path: Path, tmp_path: Path) -> None:
        with SessionDB(path) as db:
            (tmp_path / "link").symlink_to(path)
            (tmp_path / "linked-home").symlink_to(path.parent)
            spellings = [
                tmp_path / "link",
                tmp_path / "linked-home" / "state.db",
                path.parent / ".." / "home" / "state.db",
            ]
            for spelling in spellings:
                with SessionDB(spelling) as other:
                    assert engine_of(other) is engine_of(db)

    def test_the_last_handle_closes_it(self, path: Path) -> None:
        first, second = SessionDB(path), SessionDB(path)
        first.close()
        second.create_session("a", "cli")
        second.close()
        with SessionDB(path) as db:
            assert db.session_count() == 1

    def test_threads_get_busy_at_their_own_deadline(self, path: Path) -> None:
        with SessionDB(path) as db, SessionDB(path, deadline=SOON) as hasty:
            db.create_session("a", "cli")
            inside, release = threading.Event(), threading.Event()

            def slow(tx: Tx) -> None:
                inside.set()
                release.wait(LONG)

            thread = in_background(lambda: transact(db, slow))
            inside.wait(LONG)
            with pytest.raises(errors.Busy):
                hasty.append_message("a", "user", "too early")
            release.set()
            thread.join(LONG)
            hasty.append_message("a", "user", "in time")
            assert hasty.message_count("a") == 1


class TestClosing:
    """A program that ends closes its store while its threads still use it."""

    @pytest.mark.parametrize("kind", ["write", "read"])
    def test_it_waits_for_those_who_are_at_it(self, path: Path, kind: str) -> None:
        db = SessionDB(path)
        inside, release = threading.Event(), threading.Event()
        ended: list[str] = []

        def slow(tx: Tx) -> None:
            tx.rows("SELECT COUNT(*) FROM sessions")
            inside.set()
            release.wait(LONG)
            ended.append(kind)

        working = in_background(lambda: getattr(db.provider.driver, kind)(slow))  # type: ignore[attr-defined]
        inside.wait(LONG)
        closing = in_background(lambda: (db.close(), ended.append("close")))  # type: ignore[func-returns-value]
        closing.join(SOON)
        release.set()
        for thread in (working, closing):
            thread.join(LONG)
        assert ended == [kind, "close"]

    def test_those_who_come_later_are_told(self, path: Path) -> None:
        db = SessionDB(path)
        engine = engine_of(db)
        db.close()
        with pytest.raises(errors.Closed):
            engine.write(lambda tx: None)
        with pytest.raises(errors.Closed):
            engine.read(lambda tx: None)
