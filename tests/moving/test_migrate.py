"""From store to store: everything arrives, nothing twice, whoever keeps it and however often it is interrupted."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import mover
import pytest
from move_stores import BESIDE, NewPlace, Place, ledgers, opened, portrait, write_history
from scale import scaled  # type: ignore[import-not-found]

from sessiondb.db import SessionDB
from sessiondb.errors import Conflict
from sessiondb.migrate import Move, Summary
from sessiondb.provider import SessionDBProvider

ENGINES = ("sqlite", "postgresql", "mysql")
MEGABYTE = 1 << 20
KILLS = scaled(20, 100)


def move(source: SessionDBProvider, target: SessionDBProvider, **wishes: Any) -> Summary:
    return Move(source, target, source_name=wishes.pop("source_name", "the source"), **wishes).run()


@pytest.fixture
def source(new_place: NewPlace) -> SessionDBProvider:
    provider = opened(new_place("sqlite"))
    write_history(provider, 12, 25)
    return provider


@pytest.fixture
def target(new_place: NewPlace) -> SessionDBProvider:
    return opened(new_place("sqlite"))


def test_round_all_engines_and_back_nothing_has_changed(new_place: NewPlace) -> None:
    first = opened(new_place("sqlite"))
    write_history(first, 20, 30)
    before = portrait(first)
    assert before["beside"] == BESIDE
    here = first
    for name in ("postgresql", "mysql", "sqlite"):
        there = opened(new_place(name))
        done = move(here, there, part_rows=50)
        assert (done.verified, done.problems, done.quarantined, done.notes) == (True, [], 0, [])
        assert (done.sessions, done.trash, done.index_entries) == (len(before["sessions"]), 1, done.messages)
        assert ledgers(there) == ledgers(here)
        here.shutdown()
        here = there
    assert portrait(here) == before
    assert SessionDB(provider=here).verify().ok
    here.shutdown()


@pytest.mark.alone
def test_killed_again_and_again_the_result_is_the_same(new_place: NewPlace, say: Callable[[str], None]) -> None:
    first = new_place("sqlite")
    provider = opened(first)
    write_history(provider, scaled(24, 120), 40)
    before = portrait(provider)
    provider.shutdown()
    here, killed = first, 0
    moments = list(islice(cycle([("before", 1), ("after", 1), ("inside", 2), ("inside", 1), ("before", 2)]), KILLS))
    for name, share in (("postgresql", moments[::3]), ("mysql", moments[1::3]), ("sqlite", moments[2::3])):
        there = new_place(name)
        for moment, number in share:
            assert run(here, there, (number, moment)) is None
            killed += 1
        done = run(here, there, None)
        assert done == {"verified": True, "problems": [], "quarantined": 0}
        here = there
    assert killed == KILLS
    provider = opened(here)
    say(f"killed {killed} times on the way round: {len(before['sessions'])} sessions, nothing lost, nothing doubled")
    assert portrait(provider) == before
    provider.shutdown()


def run(source: Place, target: Place, kill: tuple[int, str] | None) -> dict[str, Any] | None:
    """A move in another process; None when it was killed."""
    work = {"source": source, "target": target, "kill": kill, "part_rows": 30}
    done = subprocess.run(
        [sys.executable, mover.__file__, json.dumps(work)], capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode == -9:
        return None
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.alone
@pytest.mark.parametrize("moment", ["unindexed", "indexing"])
def test_killed_while_the_index_is_made_the_next_run_makes_it(new_place: NewPlace, moment: str) -> None:
    here, there = new_place("sqlite"), new_place("postgresql")
    source = opened(here)
    write_history(source, 12, 25)
    wanted = [row["session_id"] for row in SessionDB(provider=source).search_messages("needle", limit=50)]
    source.shutdown()
    opened(there).shutdown()
    assert run(here, there, (0, moment)) is None
    broken_off = opened(there)
    assert broken_off.health()["index_put_off"]
    broken_off.shutdown()
    assert run(here, there, None) == {"verified": True, "problems": [], "quarantined": 0}
    target = opened(there)
    found = SessionDB(provider=target).search_messages("needle", limit=50)
    assert (target.health()["index_put_off"], target.features.indexed_text_search) == (False, True)
    assert (sorted(row["session_id"] for row in found), found.notices) == (sorted(wanted), ())
    target.shutdown()


def test_a_title_that_had_to_change_leaves_the_others_theirs(
    source: SessionDBProvider, target: SessionDBProvider
) -> None:
    """The number that one gets may be the title of another in the same batch."""
    mine, theirs = SessionDB(provider=target), SessionDB(provider=source)
    mine.set_session_title(mine.create_session("mine", "cli"), "deploy")
    for name, title in (("a", "deploy"), ("b", "deploy #2")):
        theirs.set_session_title(theirs.create_session(name, "cli"), title)
    done = move(source, target, merge=True)
    titles = {mine.get_session(name)["title"] for name in ("mine", "a", "b")}  # type: ignore[index]
    assert (done.verified, titles, len(done.renamed)) == (True, {"deploy", "deploy #2", "deploy #3"}, 2)


class TestTarget:
    def test_one_that_is_not_empty_is_refused(self, source: SessionDBProvider, target: SessionDBProvider) -> None:
        SessionDB(provider=target).create_session("mine", "cli")
        with pytest.raises(Conflict, match="1 sessions already; --merge"):
            move(source, target)
        assert [entry.id for entry in target.catalogue()] == ["mine"]

    def test_merging_leaves_what_is_there(self, source: SessionDBProvider, target: SessionDBProvider) -> None:
        mine = SessionDB(provider=target)
        mine.create_session("mine", "cli")
        mine.append_message("mine", "user", "here before")
        done = move(source, target, merge=True)
        assert (done.verified, done.sessions) == (True, len(ledgers(source)))
        assert mine.get_messages("mine")[0]["content"] == "here before"
        assert {**ledgers(source), **ledgers(target)} == ledgers(target)

    def test_merging_twice_changes_nothing(self, source: SessionDBProvider, target: SessionDBProvider) -> None:
        move(source, target)
        before = portrait(target)
        again = move(source, target, merge=True)
        assert (again.sessions, again.messages, again.same) == (0, 0, len(ledgers(source)))
        assert portrait(target) == before

    def test_what_grew_meanwhile_is_continued(self, source: SessionDBProvider, target: SessionDBProvider) -> None:
        move(source, target)
        SessionDB(provider=source).append_messages("s001", [{"role": "user", "content": "more"}] * 3)
        again = move(source, target, merge=True)
        assert (again.sessions, again.messages) == (1, 3)
        assert ledgers(target) == ledgers(source)

    def test_two_that_went_apart_are_a_conflict(self, source: SessionDBProvider, target: SessionDBProvider) -> None:
        move(source, target)
        SessionDB(provider=source).append_message("s001", "user", "here")
        SessionDB(provider=target).append_message("s001", "user", "there")
        before = portrait(target)
        again = move(source, target, merge=True)
        assert list(again.conflicts) == ["s001"]
        assert portrait(target) == before

    def test_one_that_has_more_keeps_it(self, source: SessionDBProvider, target: SessionDBProvider) -> None:
        move(source, target)
        SessionDB(provider=target).append_message("s001", "user", "there")
        again = move(source, target, merge=True)
        assert (again.ahead, again.conflicts) == (1, {})

    def test_an_unfinished_move_of_another_source_is_refused(
        self, source: SessionDBProvider, target: SessionDBProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Move, "_link", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            move(source, target)
        monkeypatch.undo()
        with pytest.raises(Conflict, match=r"from the source .* was not finished"):
            move(source, target, source_name="another")
        done = move(source, target)
        assert (done.resumed, done.verified, done.same) == (True, True, len(ledgers(source)))
        assert portrait(target) == portrait(source)

    def test_a_rehearsal_writes_nothing(self, source: SessionDBProvider, target: SessionDBProvider) -> None:
        done = Move(source, target, source_name="the source").rehearse()
        assert (done.sessions, done.dry_run, ledgers(target)) == (len(ledgers(source)), True, {})
        assert target.get_meta("migration") is None

    def test_a_memory_store_takes_and_gives_all_but_the_trash(self, source: SessionDBProvider) -> None:
        between = opened(("memory", {}))
        done = move(source, between)
        assert (done.verified, ledgers(between)) == (True, ledgers(source))


def test_long_messages_are_read_and_moved_a_few_at_a_time(new_place: NewPlace) -> None:
    """Memory holds a few of them, however many a conversation has."""
    source, target = opened(new_place("sqlite")), opened(new_place("sqlite"))
    db = SessionDB(provider=source)
    db.create_session("long", "cli")
    text = "x" * MEGABYTE
    for number in range(80):
        db.append_message("long", "user", f"{number} {text}")
    tracemalloc.start()
    try:
        done = move(source, target)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (done.messages, done.verified) == (80, True)
    assert peak < 60 * MEGABYTE
    source.shutdown()
    target.shutdown()


class TestQuarantine:
    @pytest.fixture
    def damaged(self, source: SessionDBProvider) -> SessionDBProvider:
        def damage(tx: Any) -> None:
            first = "(SELECT MIN(seq) FROM messages WHERE session_id = :id)"
            sql = f"UPDATE messages SET %s WHERE session_id = :id AND seq = {first}"
            tx.run(sql % "content = 'altered'", {"id": "s001"})
            tx.run(sql % "content = CAST(x'61ff62' AS TEXT)", {"id": "s002"})
            tx.run(sql % "content = x'00ff'", {"id": "s003"})
            tx.run(sql % "timestamp = 'yesterday'", {"id": "s004"})
            tx.run("UPDATE sessions SET started_at = 'long ago' WHERE id = :id", {"id": "s006"})

        source.driver.write(damage)  # type: ignore[attr-defined]
        return source

    @pytest.mark.parametrize("engine", ENGINES)
    def test_bad_rows_are_listed_and_kept_and_the_others_moved(
        self, damaged: SessionDBProvider, new_place: NewPlace, tmp_path: Path, engine: str
    ) -> None:
        target = opened(new_place(engine))
        file = tmp_path / "bad" / "rows.jsonl"
        rows_of_bad_session = len(list(damaged.stored_messages("s006")))
        done = move(damaged, target, quarantine=str(file), part_rows=7)
        kept = [json.loads(line) for line in file.read_text().splitlines()]
        assert done.quarantined == len(kept) == 4 + 1 + rows_of_bad_session
        assert {line["place"].split()[0] for line in kept} == {"s001", "s002", "s003", "s004", "s006"}
        assert (done.verified, done.problems) == (True, [])
        assert ledgers(damaged).keys() - ledgers(target).keys() == {"s006"}
        assert SessionDB(provider=target).verify().ok
        again = move(damaged, target, merge=True)
        assert (again.messages, again.conflicts) == (0, {})
        target.shutdown()

    def test_messages_without_a_session_are_listed(self, source: SessionDBProvider, target: SessionDBProvider) -> None:
        connection = source.driver.engine.writer.connection  # type: ignore[attr-defined]
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('ghost', 'user', 'lost', 1.0)"
        )
        done = move(source, target)
        assert [reason.partition(": ")[2] for reason in done.quarantine_reasons] == ["its session 'ghost' is not there"]
