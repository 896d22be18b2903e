"""Many processes at once: nobody fails, nobody waits for ever, nobody starves."""

from __future__ import annotations

import json
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import acknowledged
import apsw
import pytest
from actors import wait_for_file
from inside import integrity
from nursery import Nursery
from scale import scaled

from conftest import Say
from sessiondb import SessionDB, errors
from sessiondb.backends.sqlite import schema

pytestmark = pytest.mark.alone

WRITERS = 16
APPENDS = scaled(500, 5000)
DEADLINE = 1.0
STARTING_SECONDS = 0.5


def crowd(nursery: Nursery, path: Path, results: Path, count: int, **options: bool) -> list[dict[str, object]]:
    """Writers that begin at the same moment, and what each of them noted."""
    SessionDB(path).close()
    start = time.monotonic() + STARTING_SECONDS
    files = [results / f"{number}.json" for number in range(WRITERS)]
    pids = [nursery.start("append_timed", path, file.stem, count, start, file, **options) for file in files]
    assert [nursery.wait(pid, 600) for pid in pids] == [0] * WRITERS, nursery.complaints()
    return [json.loads(file.read_text()) for file in files]


def figures(notes: list[dict[str, object]]) -> dict[str, object]:
    took = sorted(seconds * 1000 for note in notes for seconds in note["took"])  # type: ignore[attr-defined]
    rates = [len(note["took"]) / note["seconds"] for note in notes]  # type: ignore[arg-type, operator]
    return {
        "appends": len(took),
        "errors": sum(len(note["errors"]) for note in notes),  # type: ignore[arg-type, misc]
        "p50_ms": statistics.median(took),
        "p99_ms": took[int(len(took) * 0.99)],
        "max_ms": took[-1],
        "slowest_process_to_mean": min(rates) / statistics.mean(rates),
    }


class TestCrowd:
    def test_sixteen_writers_have_no_errors_and_lose_nothing(
        self, path: Path, tmp_path: Path, nursery: Nursery, say: Say
    ) -> None:
        notes = crowd(nursery, path, tmp_path, APPENDS)
        say(f"{WRITERS} writer processes", **figures(notes))
        assert [note["errors"] for note in notes] == [[]] * WRITERS
        with SessionDB(path) as db:
            for number in range(WRITERS):
                stored = [row["content"] for row in db.get_messages(str(number))]
                assert stored == [acknowledged.text(str(number), place) for place in range(APPENDS)]
            assert db.verify().problems == []
        assert integrity(path) == "ok"

    def test_without_the_gate_the_longest_wait_is_printed(
        self, path: Path, tmp_path: Path, nursery: Nursery, say: Say
    ) -> None:
        notes = crowd(nursery, path, tmp_path, APPENDS // 5, gate=False)
        say(f"{WRITERS} writer processes, no gate", **figures(notes))


class TestStoppedHolder:
    @pytest.fixture
    def holder(self, path: Path, tmp_path: Path, nursery: Nursery) -> int:
        """A process that was stopped inside its transaction."""
        with SessionDB(path) as db:
            db.create_session("a", "cli")
        pid = nursery.start("hold", path, tmp_path / "held", tmp_path / "release")
        wait_for_file(tmp_path / "held")
        nursery.kill(pid, signal.SIGSTOP)
        return pid

    def let_go(self, nursery: Nursery, holder: int, tmp_path: Path) -> None:
        (tmp_path / "release").touch()
        nursery.kill(holder, signal.SIGCONT)
        assert nursery.wait(holder) == 0, nursery.complaints()

    @pytest.mark.parametrize("gate", [True, False])
    def test_busy_at_the_deadline_then_the_same_handle_works(
        self, path: Path, tmp_path: Path, nursery: Nursery, holder: int, gate: bool, say: Say
    ) -> None:
        with SessionDB(path, deadline=DEADLINE, gate=gate) as db:
            begun = time.monotonic()
            with pytest.raises(errors.Busy):
                db.append_message("a", "user", "too early")
            waited = time.monotonic() - begun
            assert waited >= DEADLINE
            self.let_go(nursery, holder, tmp_path)
            db.append_message("a", "user", "in time")
            assert [row["content"] for row in db.get_messages("a")] == ["in time"]
        say(f"stopped holder, {'gate' if gate else 'no gate'}", deadline_s=DEADLINE, busy_after_s=waited)

    def test_reading_goes_on(self, path: Path, tmp_path: Path, nursery: Nursery, holder: int) -> None:
        with SessionDB(path, read_only=True) as db:
            assert db.session_count() == 1
        self.let_go(nursery, holder, tmp_path)

    def test_a_wait_that_ended_too_late_keeps_nobody_out(
        self, path: Path, tmp_path: Path, nursery: Nursery, holder: int
    ) -> None:
        """The gate thread gets the lock when its waiter is gone, and gives it back at once."""
        with SessionDB(path, deadline=0.2) as db:
            with pytest.raises(errors.Busy):
                db.append_message("a", "user", "too early")
            self.let_go(nursery, holder, tmp_path)
            assert nursery.wait(nursery.start("append", path, "a", 3, deadline=10)) == 0, nursery.complaints()
            db.append_message("a", "user", "last")
            assert db.message_count("a") == 4


class TestOpening:
    PROCESSES = 32
    ROUNDS = scaled(15, 200)

    def test_all_succeed_on_a_fresh_path(self, tmp_path: Path, nursery: Nursery, say: Say) -> None:
        begun = time.monotonic()
        for number in range(self.ROUNDS):
            path = tmp_path / str(number) / "state.db"
            start = time.monotonic() + 0.1
            pids = [nursery.start("open_at", path, f"p{place}", start) for place in range(self.PROCESSES)]
            assert [nursery.wait(pid) for pid in pids] == [0] * self.PROCESSES, nursery.complaints()
            with SessionDB(path) as db:
                assert db.message_count() == self.PROCESSES
                assert db.verify().problems == []
        say(
            "opening a fresh path at once",
            processes=self.PROCESSES,
            rounds=self.ROUNDS,
            failed=0,
            seconds=time.monotonic() - begun,
        )

    def test_a_directory_that_another_made_meanwhile_is_no_error(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = os.makedirs

        def overtaken(*arguments: Any, **options: Any) -> None:
            path.parent.mkdir(exist_ok=True)
            real(*arguments, **options)

        monkeypatch.setattr(os, "makedirs", overtaken)
        with SessionDB(path) as db:
            assert db.session_count() == 0

    def test_it_waits_for_whoever_has_the_file_for_himself(self, path: Path) -> None:
        """The last to close a store, or the first after a crash, has it for a moment."""
        SessionDB(path).close()
        other = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs="unix")
        other.pragma("locking_mode", "exclusive")
        other.execute("BEGIN EXCLUSIVE; UPDATE sessions SET title = NULL; COMMIT")
        closing = threading.Timer(0.3, other.close)
        closing.start()
        with SessionDB(path) as db:
            assert db.session_count() == 0
        closing.join()

    def test_a_schema_that_arrives_between_two_looks_is_not_foreign(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another process creates the store while this one asks whose it is."""
        path.parent.mkdir()
        empty = apsw.Connection(str(path), vfs="unix")
        empty.pragma("journal_mode", "wal")
        empty.execute("CREATE TABLE waiting (x); DROP TABLE waiting")
        real = schema.kind_of

        def overtaken(connection: Any) -> schema.Kind:
            monkeypatch.setattr(schema, "kind_of", real)
            return real(_Overtaken(connection, lambda: schema.install(empty, schema.Kind("empty"))))  # type: ignore[arg-type]

        monkeypatch.setattr(schema, "kind_of", overtaken)
        with SessionDB(path) as db:
            assert db.session_count() == 0
        empty.close()


class _Overtaken:
    """A connection beside which something happens after its first question."""

    def __init__(self, connection: apsw.Connection, happening: Callable[[], None]) -> None:
        self._connection = connection
        self._happening = happening

    def pragma(self, name: str) -> Any:
        answer = self._connection.pragma(name)
        self._happening()
        return answer

    def execute(self, sql: str) -> Any:
        return self._connection.execute(sql)
