"""A failing disk: a typed error, nothing acknowledged lost, nothing half written, and the same handle works again."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import failing_disk
import pytest
import story
from failing_disk import Disk
from inside import engine_of, integrity, transact, writer_of
from nursery import Nursery

import sessiondb.backends.sqlite.connection as connection_module
from conftest import Say
from sessiondb import SessionDB, errors
from sessiondb.backends.sqlite import engine
from sessiondb.sql.driver import Tx

pytestmark = pytest.mark.alone

KINDS = {
    "no space": errors.DiskFull,
    "short write": errors.DiskFull,
    "I/O error": errors.Unavailable,
    "failed sync": errors.Unavailable,
}
OPERATIONS = ("append", "batch", "rotate", "trash")
MOST_CALLS = 200


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    made = Disk()
    monkeypatch.setattr(connection_module, "VFS_NAME", failing_disk.NAME)
    yield made
    made.unregister()


@pytest.fixture(scope="module")
def injected(say: Say) -> Iterator[Counter[str]]:
    """How many faults of each kind were met, printed at the end."""
    counted: Counter[str] = Counter()
    yield counted
    say(f"faults at call 1..n of {', '.join(OPERATIONS)}", lost=0, **counted)


def prepared(path: Path, operation: str) -> SessionDB:
    """A store in which the story has come to the operation."""
    db = SessionDB(path, clock=story.clock)
    story.tell(db, story.NAMES[: story.NAMES.index(operation)])
    return db


def failed(db: SessionDB, operation: str, kind: str) -> bool:
    """Whether the operation failed, as it must: with the error that fits."""
    try:
        story.STEPS[operation](db)
    except KINDS[kind]:
        return True
    return False


def tried(db: SessionDB, disk: Disk, operation: str, kind: str, call: int, *, lasting: bool) -> bool:
    """The operation on a disk that fails at that call; False when it needs fewer calls."""
    before = story.contents(db)
    disk.fail(kind, call, lasting=lasting)
    try:
        has_failed = failed(db, operation, kind)
    finally:
        disk.heal()
    assert has_failed == (disk.faults > 0)
    if has_failed:
        assert story.contents(db) == before
        assert db.verify().problems == []
    return has_failed


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_whichever_call_fails_the_operation_fails_whole_and_works_afterwards(
    fast_path: Path, disk: Disk, operation: str, kind: str, lasting: bool, injected: Counter[str]
) -> None:
    path = fast_path / "state.db"
    with prepared(path, operation) as db:
        calls = 1
        while tried(db, disk, operation, kind, calls, lasting=lasting):
            calls += 1
            assert calls < MOST_CALLS
        # The last try met no fault: the operation happened, once.
        assert calls > 1
        assert story.contents(db) == story.expected(story.NAMES.index(operation) + 1)
        story.tell(db, story.NAMES[story.NAMES.index(operation) + 1 :])
        assert story.contents(db) == story.expected(len(story.NAMES))
    assert integrity(path) == "ok"
    injected[kind] += calls - 1


class TestCheckpoints:
    """A checkpoint that fails costs nothing: the messages are in the WAL."""

    @pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_appends_are_acknowledged_while_checkpoints_fail(
        self, fast_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch, kind: str, lasting: bool
    ) -> None:
        monkeypatch.setattr(engine, "CHECKPOINT_EVERY", 1)
        real = engine.Engine.checkpoint
        plan = {"call": 1, "faults": 0}

        def checkpoint(self: engine.Engine, connection: apsw.Connection) -> None:
            disk.fail(kind, plan["call"], lasting=lasting)
            try:
                real(self, connection)
            finally:
                disk.heal()
                plan["faults"] = disk.faults
                plan["call"] += 1

        path = fast_path / "state.db"
        with SessionDB(path) as db:
            db.create_session("a", "cli")
            monkeypatch.setattr(engine.Engine, "checkpoint", checkpoint)
            sent = 0
            while sent == 0 or plan["faults"]:
                db.append_message("a", "user", str(sent))
                sent += 1
                assert sent < MOST_CALLS
            assert sent > 2
            monkeypatch.setattr(engine.Engine, "checkpoint", real)
            db.append_message("a", "user", str(sent))
            assert [row["content"] for row in db.get_messages("a")] == [str(number) for number in range(sent + 1)]
            assert db.verify().problems == []
        assert integrity(path) == "ok"


class TestKilledInTheMiddle:
    """Killed at every single write and sync of a commit, a batch, a rotation, a trash move, a checkpoint."""

    @pytest.mark.parametrize("operation", [*OPERATIONS, "checkpoint"])
    def test_whatever_reached_the_disk_the_store_is_whole(
        self, path: Path, nursery: Nursery, operation: str, say: Say
    ) -> None:
        name = "go on" if operation == "checkpoint" else operation
        steps = story.NAMES.index(name)
        before, after = story.expected(steps), story.expected(steps + 1)
        call, code = 0, -9
        while code == -9:
            call += 1
            store = path.parent / str(call) / "state.db"
            prepared(store, name).close()
            code = nursery.wait(nursery.start("tell_and_die", store, operation, call))
            with SessionDB(store, clock=story.clock) as db:
                assert story.contents(db) in ((after,) if operation == "checkpoint" else (before, after))
                assert db.verify().problems == []
            assert integrity(store) == "ok"
        assert code == 0, nursery.complaints()
        say(f"killed at each write and sync of {operation}", calls=call - 1, damaged=0)


class TestGroup:
    """Works that share a transaction: whoever breaks it, breaks it for himself alone."""

    def together(self, db: SessionDB, works: dict[str, Any]) -> dict[str, Any]:
        """Run works in one group: all of them queue while the leader waits inside his own."""
        outcomes: dict[str, Any] = {}
        threads = [threading.Thread(target=self.noted, args=(outcomes, db, *item)) for item in works.items()]

        def leading(tx: Tx) -> None:
            for thread in threads:
                thread.start()
            while len(writer_of(db)._queue) < len(threads):
                pass

        leader = threading.Thread(target=transact, args=(db, leading))
        leader.start()
        for thread in (leader, *threads):
            thread.join(30)
        return outcomes

    def noted(self, outcomes: dict[str, Any], db: SessionDB, name: str, work: Any) -> None:
        try:
            transact(db, work)
            outcomes[name] = "ok"
        except errors.SessionDBError as exc:
            outcomes[name] = type(exc)

    def remember(self, name: str) -> Any:
        return lambda tx: tx.run("INSERT INTO meta (name, value) VALUES (:name, 'x')", {"name": name})

    def fill_the_disk(self, tx: Tx) -> None:
        tx.run("INSERT INTO meta (name, value) VALUES ('big', zeroblob(10000000))")

    def test_the_disk_is_full_for_one_and_the_others_succeed(self, fast_path: Path) -> None:
        with SessionDB(fast_path / "state.db") as db:
            connection = writer_of(db).connection
            connection.pragma("max_page_count", connection.pragma("page_count") + 20)
            works = {"a": self.remember("a"), "culprit": self.fill_the_disk, "b": self.remember("b")}
            assert self.together(db, works) == {"a": "ok", "b": "ok", "culprit": errors.DiskFull}
            assert [db.get_meta(name) for name in ("a", "b", "big")] == ["x", "x", None]

    def test_a_mistake_of_one_does_not_disturb_the_others(self, fast_path: Path) -> None:
        def mistaken(tx: Tx) -> None:
            tx.run("INSERT INTO meta (name, value) VALUES ('half', 'x')")
            raise errors.Invalid("no such thing")

        with SessionDB(fast_path / "state.db") as db:
            commits = writer_of(db).commits
            works = {"a": self.remember("a"), "culprit": mistaken, "b": self.remember("b")}
            assert self.together(db, works) == {"a": "ok", "b": "ok", "culprit": errors.Invalid}
            assert [db.get_meta(name) for name in ("a", "b", "half")] == ["x", "x", None]
            assert writer_of(db).commits - commits == 2  # the leader's, and one for all three

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_commit_that_fails_raises_in_every_caller(self, fast_path: Path, disk: Disk, kind: str) -> None:
        def last_before_the_fault(tx: Tx) -> None:
            self.remember("b")(tx)
            disk.fail(kind, 1, lasting=False)

        with SessionDB(fast_path / "state.db") as db:
            works = {"a": self.remember("a"), "b": last_before_the_fault}
            outcomes = self.together(db, works)
            disk.heal()
            assert outcomes == {"a": KINDS[kind], "b": KINDS[kind]}
            assert [db.get_meta(name) for name in ("a", "b")] == [None, None]
            assert self.together(db, {name: self.remember(name) for name in works}) == {"a": "ok", "b": "ok"}

    def test_without_running_the_others_again_they_are_lost(self, fast_path: Path) -> None:
        """What SQLite does when the disk is full: the whole transaction is gone, savepoints and all."""
        connection = apsw.Connection(str(fast_path / "plain.db"))
        connection.pragma("journal_mode", "wal")
        connection.execute("CREATE TABLE meta (name, value)")
        connection.pragma("max_page_count", connection.pragma("page_count") + 20)
        connection.execute("BEGIN IMMEDIATE; SAVEPOINT job; INSERT INTO meta VALUES ('a', 'x'); RELEASE job")
        connection.execute("SAVEPOINT job")
        with pytest.raises(apsw.FullError):
            connection.execute("INSERT INTO meta VALUES ('big', zeroblob(10000000))")
        assert not connection.in_transaction
        assert connection.execute("SELECT COUNT(*) FROM meta").fetchall() == [(0,)]
        connection.close()

    def test_without_savepoints_half_of_a_mistake_is_stored(self, fast_path: Path) -> None:
        connection = apsw.Connection(str(fast_path / "plain.db"))
        connection.execute("CREATE TABLE meta (name UNIQUE); BEGIN IMMEDIATE; INSERT INTO meta VALUES ('half')")
        with pytest.raises(apsw.ConstraintError):
            connection.execute("INSERT INTO meta VALUES ('half')")
        connection.execute("INSERT INTO meta VALUES ('b'); COMMIT")
        assert connection.execute("SELECT name FROM meta ORDER BY 1").fetchall() == [("b",), ("half",)]
        connection.close()


def test_a_failed_checkpoint_is_made_up_for(fast_path: Path, disk: Disk) -> None:
    with SessionDB(fast_path / "state.db") as db:
        db.create_session("a", "cli")
        disk.fail("I/O error", 1, lasting=True)
        engine_of(db).checkpoint(writer_of(db).connection)
        disk.heal()
        assert disk.faults
        engine_of(db).checkpoint(writer_of(db).connection)
        assert writer_of(db).connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)[1] >= 0
