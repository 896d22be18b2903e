"""The index follows the messages: what is new, changed or gone, whoever did it."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest
from index_story import asked, ids, process, ran, say, scanned

import sessiondb
from sessiondb import SessionDB, errors
from sessiondb.backends.sqlite import engine, provider
from sessiondb.backends.sqlite.index import catchup, fts5, generation, keeping, merging, searcher, trim, turn
from sessiondb.backends.sqlite.index.background import Background


@pytest.fixture
def path(fast_path: Path) -> Path:
    return fast_path / "state.db"


@pytest.fixture
def db(path: Path) -> Iterator[SessionDB]:
    with sessiondb.open(path) as db:
        db.create_session("s", "cli")
        yield db


@pytest.fixture
def never_caught_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when another process is at it all the time."""
    monkeypatch.setattr(generation.Generation, "catch_up", lambda *_, **__: False)


BOXES = ("needle", "hay", "needle -hay", "new*", '"old needle"')


def right(db: SessionDB) -> bool:
    return all(ids(asked(db, box)) == scanned(db, box) for box in BOXES)


class TestChanges:
    """Each kind of change, before and after the index has read the message, caught up or scanned beside it."""

    @pytest.fixture(autouse=True)
    def told(self, db: SessionDB) -> None:
        say(db, "s", "old needle", "hay", "needle in hay", "newest needle")
        asked(db, "needle")

    def clear(self, db: SessionDB) -> None:
        db.clear_messages("s")

    def replace(self, db: SessionDB) -> None:
        db.replace_messages("s", [{"role": "user", "content": "new needle"}])

    def delete(self, db: SessionDB) -> None:
        db.delete_session("s")

    def delete_and_restore(self, db: SessionDB) -> None:
        db.delete_session("s")
        db.restore_deleted("s")

    def prune(self, db: SessionDB) -> None:
        db.end_session("s", "done")
        db.prune_sessions(older_than_days=0)

    def rewind(self, db: SessionDB) -> None:
        db.rewind_to_message("s", db.get_messages("s")[1]["id"])

    def rewind_and_restore(self, db: SessionDB) -> None:
        self.rewind(db)
        db.restore_rewound("s")

    def take_in(self, db: SessionDB) -> None:
        rows = [{"role": "user", "content": "needle of another", "timestamp": 5.0}]
        db.import_sessions([{"id": "t", "source": "cli", "started_at": 1.0, "messages": rows}])

    def fork(self, db: SessionDB) -> None:
        db.fork_session("s")

    CHANGES = (
        "clear", "replace", "delete", "delete_and_restore", "prune", "rewind", "rewind_and_restore", "take_in", "fork",
    )  # fmt: skip

    @pytest.mark.parametrize("change", CHANGES)
    def test_a_change_is_followed(self, db: SessionDB, change: str) -> None:
        getattr(self, change)(db)
        assert right(db)
        assert asked(db, "needle").notices == ()

    @pytest.mark.parametrize("change", CHANGES)
    @pytest.mark.usefixtures("never_caught_up")
    def test_a_change_that_was_not_read_is_seen_all_the_same(self, db: SessionDB, change: str) -> None:
        getattr(self, change)(db)
        assert right(db)


@pytest.mark.usefixtures("never_caught_up")
def test_what_is_not_read_yet_is_scanned_and_counted(db: SessionDB) -> None:
    say(db, "s", *["needle"] * 700)
    found = db.search_messages("needle")
    assert (len(found), found.total, found.index_lag, found.notices) == (20, 700, 700, ())


def test_a_search_reads_for_its_budget_and_scans_the_rest(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher, "BUDGET", 0.0)
    monkeypatch.setattr(engine.Engine, "index_in_background", lambda _: None)
    say(db, "s", *["needle"] * (catchup.BATCH + 100))
    lags = [db.search_messages("needle").index_lag for _ in range(3)]
    assert lags == [100, 0, 0]


class TestIdsOfMessagesThatWent:
    """The last numbers were given to messages that are gone: nothing is left to read."""

    @pytest.fixture(autouse=True)
    def told(self, db: SessionDB) -> None:
        say(db, "s", "old needle", "hay")
        asked(db, "needle")
        db.create_session("t", "cli")
        say(db, "t", "gone needle", "gone hay")
        db.delete_session("t")

    def test_a_search_has_read_all(self, db: SessionDB) -> None:
        assert asked(db, "needle").index_lag == 0
        assert right(db)

    def test_reading_all_comes_to_an_end(self, db: SessionDB) -> None:
        done = threading.Event()
        threading.Thread(target=lambda: (db.index(), done.set()), daemon=True).start()
        assert done.wait(10)

    def test_what_is_said_next_is_found(self, db: SessionDB) -> None:
        asked(db, "needle")
        say(db, "s", "new needle")
        assert right(db)


def test_another_process_reads_what_this_one_writes(db: SessionDB, path: Path) -> None:
    with process("index_writer.py", path, "other", 0.001) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        for number in range(20):
            (found,) = say(db, "s", f"unique{number}")
            assert ids(asked(db, f"unique{number}")) == {found}
        writer.stdin.close()
        writer.wait()
    assert ids(asked(db, "alpha")) == scanned(db, "alpha") != set()


FORKS = """
import os, sys
import sessiondb
with sessiondb.open(sys.argv[1]) as db:
    db.append_message("s", "user", "needle")
    assert len(db.search_messages("needle")) == 1
    db.provider.driver.engine.index_in_background()
    if (child := os.fork()) == 0:
        db.append_message("s", "user", "needle of the child")
        assert len(db.search_messages("needle")) == 2
        db.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(db.search_messages("needle")) == 2
    if (child := os.fork()) == 0:
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_child_searches_and_leaves_the_parents_index_alone(db: SessionDB, path: Path) -> None:
    ran(FORKS, path)


WRITES_MUCH = """
import sys
import sessiondb
from sessiondb.backends.sqlite import engine
with sessiondb.open(sys.argv[1]) as db:
    for number in range(engine.INDEXED_AFTER + engine.CHECKPOINT_EVERY):
        db.append_message("s", "user", "needle")
    assert db.provider.driver.engine._background is not None
    assert "logging" not in sys.modules and "sessiondb.search.analyze" not in sys.modules
assert "logging" not in sys.modules and "sessiondb.search.analyze" not in sys.modules
"""


LOADING = """
import sys, threading, time
from importlib.abc import MetaPathFinder
import sessiondb

class Slow(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "sessiondb.backends.sqlite.index.searcher":
            loading.set()
            time.sleep(1)

loading = threading.Event()
sys.meta_path.insert(0, Slow())
db = sessiondb.open(sys.argv[1])
db.append_message("s", "user", "needle")
time.sleep(0.2)
db.provider.driver.engine.index_in_background()
assert loading.wait(30)
"""
WAKES = f"""
{LOADING}
began = time.monotonic()
db.provider.driver.engine.index_in_background()
assert time.monotonic() - began < 0.5
db.close()
"""

FORKS_MEANWHILE = f"""
{LOADING}
import os, signal
if (child := os.fork()) == 0:
    signal.alarm(20)
    assert len(db.search_messages("needle")) == 1
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
db.close()
"""

FORKS_AT_WORK = """
import os, sys, threading, time
import sessiondb
from sessiondb.backends.sqlite.index import searcher

def slow(*arguments):
    at_work.append(None)
    begun.set()
    time.sleep(1)
    found = step(*arguments)
    at_work.clear()
    return found

step, searcher.Searcher.step = searcher.Searcher.step, slow
at_work, begun = [], threading.Event()
db = sessiondb.open(sys.argv[1])
db.append_message("s", "user", "needle")
db.provider.driver.engine.index_in_background()
assert begun.wait(30)
if (child := os.fork()) == 0:
    os._exit(len(at_work))
assert os.waitpid(child, 0)[1] == 0
db.close()
"""


class TestBackground:
    def lag(self, db: SessionDB) -> Any:
        return db.health()["index_lag"]

    def test_a_process_that_writes_much_keeps_the_index(self, db: SessionDB, path: Path) -> None:
        for number in range(engine.INDEXED_AFTER + engine.CHECKPOINT_EVERY):
            say(db, "s", f"needle {number}")
        until = time.monotonic() + 20
        while self.lag(db) != 0 and time.monotonic() < until:
            time.sleep(0.02)
        assert self.lag(db) == 0
        db.close()
        with sessiondb.open(path, read_only=True) as reader:
            # What was written after the last wake-up; the rest was read by nobody but the thread.
            assert reader.search_messages("needle").index_lag <= engine.CHECKPOINT_EVERY

    def test_writing_and_closing_wait_for_no_module_of_search(self, db: SessionDB, path: Path) -> None:
        ran(WRITES_MUCH, path)

    def test_nor_does_whoever_wakes_the_thread_while_it_loads_them(self, db: SessionDB, path: Path) -> None:
        ran(WAKES, path)

    def test_a_child_that_was_forked_while_the_thread_loaded_them_searches(self, db: SessionDB, path: Path) -> None:
        ran(FORKS_MEANWHILE, path)

    def test_a_fork_waits_until_the_thread_rests(self, db: SessionDB, path: Path) -> None:
        ran(FORKS_AT_WORK, path)

    def test_one_process_does_it_for_all(self, db: SessionDB, path: Path) -> None:
        say(db, "s", *["needle"] * 3)
        ours = db.provider.driver.engine  # type: ignore[attr-defined]
        with turn.taken(str(path)) as taken:
            assert taken
            ours.index_in_background()
            time.sleep(0.3)
            assert not list(path.parent.glob("*-search-*"))
        until = time.monotonic() + 20
        while self.lag(db) != 0 and time.monotonic() < until:
            ours.index_in_background()
            time.sleep(0.02)
        assert self.lag(db) == 0

    def test_what_others_write_while_it_merges_is_read(self, db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
        def merge(_: searcher.Searcher) -> bool:
            if left:
                say(db, "s", left.pop())
            return bool(left)

        left = ["needle", "needle again"]
        monkeypatch.setattr(searcher.Searcher, "merge", merge)
        monkeypatch.setattr(Background, "is_busy", False)
        db.provider.driver.engine.index_in_background()  # type: ignore[attr-defined]
        until = time.monotonic() + 5
        while (left or self.lag(db) != 0) and time.monotonic() < until:
            time.sleep(0.02)
        assert (left, self.lag(db)) == ([], 0)

    def test_where_no_turn_can_be_had_each_does_it_for_itself(
        self, db: SessionDB, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def without_locks(descriptor: int) -> bool:
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(turn, "locks", SimpleNamespace(try_lock=without_locks, unlock=without_locks))
        say(db, "s", "needle")
        asked(db, "needle")
        say(db, "s", "needle")
        db.provider.driver.engine.index_in_background()  # type: ignore[attr-defined]
        until = time.monotonic() + 20
        while self.lag(db) != 0 and time.monotonic() < until:
            time.sleep(0.02)
        assert self.lag(db) == 0

    def test_a_forked_child_does_not_keep_the_turn(self, db: SessionDB, path: Path) -> None:
        with turn.taken(str(path)):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
        try:
            with turn.taken(str(path)) as again:
                assert again
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def test_closing_ends_the_thread(self, db: SessionDB) -> None:
        say(db, "s", "needle")
        asked(db, "needle")
        db.provider.driver.engine.index_in_background()  # type: ignore[attr-defined]
        db.close()
        assert "sessiondb-index" not in {thread.name for thread in threading.enumerate()}

    @pytest.mark.alone
    def test_appends_are_not_slowed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def medians() -> tuple[float, float]:
            with sessiondb.open(tmp_path / f"{time.monotonic_ns()}.db") as db:
                db.create_session("s", "cli")
                took = []
                for number in range(2000):
                    begun = time.perf_counter()
                    say(db, "s", f"needle number {number} in much hay " * 5)
                    took.append((time.perf_counter() - begun) * 1e6)
                took.sort()
                return took[1000], took[1980]

        working = medians()
        monkeypatch.setattr(engine.Engine, "index_in_background", lambda _: None)
        idle = medians()
        print(f"\nappend µs, p50 and p99: {working[0]:.0f} {working[1]:.0f} indexing, {idle[0]:.0f} {idle[1]:.0f} not")


class TestTheLog:
    def changes(self, db: SessionDB) -> int:
        count = "SELECT COUNT(*) FROM message_changes"
        return int(db.provider.driver.read(lambda tx: tx.row(count))[0])  # type: ignore[attr-defined]

    def churn(self, db: SessionDB, times: int) -> None:
        for _ in range(times):
            db.replace_messages("s", [{"role": "user", "content": f"needle {number}"} for number in range(50)])

    def test_changes_that_were_read_are_forgotten_but_for_a_margin(
        self, db: SessionDB, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(trim, "MARGIN", 100)
        monkeypatch.setattr(trim, "WORTH", 10)
        self.churn(db, 10)
        db.index()
        held = db.provider.driver.engine.searcher()  # type: ignore[attr-defined]
        held.trim(held.step(0.0))
        assert self.changes(db) == 100
        assert right(db)

    def test_an_index_that_needs_forgotten_changes_is_made_again(self, db: SessionDB) -> None:
        say(db, "s", "needle")
        asked(db, "needle")
        self.churn(db, 1)
        db.provider.driver.write(lambda tx: tx.run("DELETE FROM message_changes"))  # type: ignore[attr-defined]
        assert asked(db, "needle").notices != ()
        assert right(db)
        assert asked(db, "needle").notices == ()


class TestIndexing:
    def test_all_is_read_and_told(self, db: SessionDB) -> None:
        say(db, "s", *["needle"] * 1200)
        told: list[tuple[int, int]] = []
        db.index(lambda done, total: told.append((done, total)))
        assert told[-1] == (1200, 1200)
        assert db.health()["index_lag"] == 0

    def test_a_store_opened_for_reading_is_not_indexed(self, db: SessionDB, path: Path) -> None:
        with sessiondb.open(path, read_only=True) as reader, pytest.raises(errors.NotSupported, match="read-only"):
            reader.index()


class TestReadOnly:
    def test_without_an_index_the_rows_are_read(self, db: SessionDB, path: Path) -> None:
        say(db, "s", "needle")
        with sessiondb.open(path, read_only=True) as reader:
            found = reader.search_messages("needle")
            assert (len(found), len(found.notices)) == (1, 1)
        assert not list(path.parent.glob("*-search-*"))

    def test_with_an_index_what_it_lacks_is_read_beside_it(self, db: SessionDB, path: Path) -> None:
        say(db, "s", "old needle")
        asked(db, "needle")
        say(db, "s", "new needle")
        before = {each: each.stat().st_mtime_ns for each in path.parent.glob("*-search-*")}
        with sessiondb.open(path, read_only=True) as reader:
            found = reader.search_messages("needle")
            assert (len(found), found.index_lag, found.notices) == (2, 1, ())
        assert {each: each.stat().st_mtime_ns for each in path.parent.glob("*-search-*")} == before

    def test_a_directory_without_permission_to_write_is_searched(self, db: SessionDB, path: Path) -> None:
        say(db, "s", "needle")
        asked(db, "needle")
        db.close()
        for each in path.parent.iterdir():
            each.chmod(0o444)
        path.parent.chmod(0o555)
        try:
            ran(READS, path)
        finally:
            path.parent.chmod(0o700)


READS = """
import os, sys
import sessiondb

def found():
    with sessiondb.open(sys.argv[1], read_only=True) as db:
        answer = db.search_messages("needle")
        return len(answer), answer.notices

found()  # everything is imported while that is allowed
os.environ["SESSIONDB_HOME"] = os.path.dirname(sys.argv[1])
if os.getuid() == 0:
    os.setuid(65534)
assert not os.access(os.path.dirname(sys.argv[1]), os.W_OK)
assert found() == (1, ()), found()
"""


def test_without_fts5_appends_go_on_and_the_first_search_says_why(
    db: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fts5, "available", lambda: False)
    for number in range(engine.INDEXED_AFTER + engine.CHECKPOINT_EVERY):
        say(db, "s", f"needle {number}")
    with pytest.raises(errors.NotSupported, match="FTS5"):
        db.search_messages("needle")
    assert db.message_count() == engine.INDEXED_AFTER + engine.CHECKPOINT_EVERY


class TestImports:
    """What is imported is indexed by the way, in steps."""

    @pytest.fixture
    def documents(self) -> list[dict[str, Any]]:
        rows = [{"role": "user", "content": f"needle {number}", "timestamp": float(number)} for number in range(50)]
        return [{"id": f"t{number}", "source": "cli", "started_at": 1.0, "messages": rows} for number in range(10)]

    @pytest.fixture(autouse=True)
    def small_steps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(provider, "INDEXED_AFTER", 100)
        monkeypatch.setattr(keeping, "ALONG_REST", 20)

    def test_the_index_follows(self, db: SessionDB, documents: list[dict[str, Any]]) -> None:
        lags = [db.health()["index_lag"] for each in documents if db.import_sessions([each]).messages]
        assert max(lags[1:]) <= 100 + 20

    def test_an_index_that_cannot_be_written_stops_no_import(
        self, db: SessionDB, documents: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fts5, "available", lambda: False)
        assert db.import_sessions(documents).messages == 500

    def test_another_process_at_the_index_is_not_waited_for(
        self, db: SessionDB, documents: list[dict[str, Any]], never_caught_up: None
    ) -> None:
        assert db.import_sessions(documents).messages == 500

    def test_what_came_in_is_found(self, db: SessionDB, documents: list[dict[str, Any]]) -> None:
        db.import_sessions(documents)
        assert ids(asked(db, "needle")) == scanned(db, "needle")


def test_pages_that_merging_empties_go_back_to_the_disk(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    given_back = merging._given_back
    left: list[int] = []

    def noted(connection: apsw.Connection) -> bool:
        left.append(int(str(connection.pragma("freelist_count"))))
        return given_back(connection)

    monkeypatch.setattr(merging, "LEAST_ROWS", 100)
    monkeypatch.setattr(merging, "_given_back", noted)
    for start in range(0, 3000, 500):
        texts = [f"word{number} said {number * 7} times" for number in range(start, start + 500)]
        db.append_messages("s", [{"role": "user", "content": text} for text in texts])
        db.index()
    assert max(left) > 0
    assert left[-1] == 0
    assert len(db.search_messages("said", limit=5000)) == 3000


REMOVALS: dict[str, Callable[[SessionDB], object]] = {
    "cleared": lambda db: db.clear_messages("s"),
    "replaced by none": lambda db: db.replace_messages("s", []),
    "moved to the trash": lambda db: db.delete_session("s"),
    "destroyed": lambda db: db.delete_session("s", hard=True),
}


@pytest.mark.parametrize("removal", REMOVALS)
def test_messages_that_went_before_they_were_read_are_not_waited_for(fast_path: Path, removal: str) -> None:
    def tick(read: int, newest: int) -> None:
        told.append(read)
        assert len(told) < 9

    told: list[int] = []
    with SessionDB(fast_path / "state.db", synchronous="NORMAL") as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", "needle one")
        db.index()
        db.append_message("s", "user", "needle two")
        REMOVALS[removal](db)
        db.index(tick)
        assert db.health()["index_lag"] == 0
        db.create_session("t", "cli")
        db.append_message("t", "user", "needle three")
        found = db.search_messages("needle")
        assert ([hit["session_id"] for hit in found], found.index_lag) == (["t"], 0)
