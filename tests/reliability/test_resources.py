"""Nothing grows: descriptors, threads and memory over a thousand openings, the WAL under constant readers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from actors import wait_for_file
from inside import wal_size
from nursery import Nursery
from scale import scaled

from conftest import Say
from sessiondb import SessionDB
from sessiondb.backends.sqlite import engine

pytestmark = pytest.mark.alone

MEGABYTE = 1024 * 1024
CYCLES = scaled(1000, 50_000)
WARM_UP = 200
MOST_MEMORY = 4 * MEGABYTE
WRITTEN = scaled(100, 2000) * MEGABYTE
MOST_WAL = 64 * MEGABYTE
TEXT = "x" * 20_000


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class TestOpenings:
    def cycle(self, path: Path, count: int) -> tuple[int, int, int]:
        for number in range(count):
            with SessionDB(path) as db:
                db.append_message("a", "user", str(number))
        return descriptors(), threading.active_count(), memory()

    def test_a_thousand_leave_nothing_behind(self, fast_path: Path, say: Say) -> None:
        path = fast_path / "state.db"
        with SessionDB(path) as db:
            db.create_session("a", "cli")
        begun = time.monotonic()
        first = self.cycle(path, WARM_UP)
        last = self.cycle(path, CYCLES - WARM_UP)
        say(
            "open, append, close",
            cycles=CYCLES,
            descriptors=f"{first[0]} -> {last[0]}",
            memory_kB=f"{first[2] // 1024} -> {last[2] // 1024}",
            seconds=time.monotonic() - begun,
        )
        assert last[:2] == first[:2]
        assert last[2] - first[2] < MOST_MEMORY
        with SessionDB(path) as db:
            assert db.message_count("a") == CYCLES

    def test_a_forgotten_handle_is_what_a_leak_looks_like(self, fast_path: Path) -> None:
        SessionDB(fast_path / "0.db").close()
        before = descriptors()
        kept = [SessionDB(fast_path / f"{number}.db") for number in range(5)]
        assert descriptors() > before + 5
        for db in kept:
            db.close()
        assert descriptors() == before


class TestWal:
    @pytest.fixture
    def db(self, fast_path: Path) -> Iterator[SessionDB]:
        with SessionDB(fast_path / "state.db") as opened:
            opened.create_session("a", "cli")
            opened.append_message("a", "user", TEXT)
            yield opened

    def write(self, db: SessionDB, path: Path, size: int) -> int:
        """Append so much text; the largest WAL seen."""
        largest = 0
        for number in range(size // len(TEXT)):
            db.append_message("a", "user", TEXT)
            if number % 10 == 0:
                largest = max(largest, wal_size(path))
        return max(largest, wal_size(path))

    def test_it_is_bounded_while_others_read_all_the_time(
        self, db: SessionDB, fast_path: Path, tmp_path: Path, nursery: Nursery, say: Say
    ) -> None:
        path = fast_path / "state.db"
        done = threading.Event()

        def read_in_this_process() -> None:
            while not done.is_set():
                db.get_messages("a", limit=50, newest=True)

        threads = [threading.Thread(target=read_in_this_process) for _ in range(2)]
        pids = [nursery.start("read_always", path, "a", tmp_path / f"ready{number}") for number in range(2)]
        for number in range(2):
            wait_for_file(tmp_path / f"ready{number}")
        for thread in threads:
            thread.start()
        try:
            begun = time.monotonic()
            largest = self.write(db, path, WRITTEN)
        finally:
            done.set()
            for thread in threads:
                thread.join()
            for pid in pids:
                nursery.stop(pid)
        say(
            "WAL under 4 constant readers",
            written_MB=WRITTEN // MEGABYTE,
            largest_MB=largest / MEGABYTE,
            seconds=time.monotonic() - begun,
        )
        assert largest < MOST_WAL

    def test_without_checkpoints_it_would_hold_everything(
        self, db: SessionDB, fast_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(engine, "CHECKPOINT_EVERY", 1 << 40)
        assert self.write(db, fast_path / "state.db", 10 * MEGABYTE) > 10 * MEGABYTE
