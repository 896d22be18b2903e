"""Writers are killed at random, visitors come and go, the host opens the file by hand: nothing acknowledged is lost."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import acknowledged
import foreign_visitor
import pytest
from inside import integrity
from nursery import Nursery
from scale import scaled

from conftest import Say
from sessiondb import SessionDB

CYCLES = scaled(200, 10_000)
WRITERS = [[f"w{number}-main", f"w{number}-thread"] for number in range(4)]
LANES = [lane for names in WRITERS for lane in names]


@contextmanager
def foreign_visits(path: Path, counts: Path) -> Iterator[None]:
    visitor = subprocess.Popen([sys.executable, foreign_visitor.__file__, str(path), str(counts)])
    try:
        yield
        assert visitor.poll() is None, "the foreign visitor failed"
    finally:
        visitor.kill()
        visitor.wait()


def torment(nursery: Nursery, path: Path, acks: Path) -> None:
    """Kill and replace a writer, again and again."""
    chance = random.Random(7)
    writers = [nursery.start("lanes", path, names, acks) for names in WRITERS]
    for cycle in range(CYCLES):
        time.sleep(chance.uniform(0.0, 0.04))
        chosen = chance.randrange(len(WRITERS))
        number = signal.SIGTERM if cycle % 2 else signal.SIGKILL
        nursery.kill(writers[chosen], number)
        assert nursery.wait(writers[chosen]) == -number, nursery.complaints()
        writers[chosen] = nursery.start("lanes", path, WRITERS[chosen], acks)
    for pid in writers:
        nursery.stop(pid)


def lost(db: SessionDB, acks: Path, lane: str) -> set[str]:
    stored = {row["content"] for row in db.get_messages(lane)}
    return {acknowledged.text(lane, number) for number in acknowledged.numbers(acks, lane)} - stored


def is_in_order(db: SessionDB, lane: str) -> bool:
    """Every number once, none left out: what was in doubt at a kill was sent again under its key."""
    stored = [row["content"] for row in db.get_messages(lane)]
    return stored == [acknowledged.text(lane, number) for number in range(len(stored))]


@pytest.mark.alone
def test_nothing_acknowledged_is_lost_doubled_or_out_of_order(
    path: Path, tmp_path: Path, nursery: Nursery, say: Say
) -> None:
    acks = tmp_path / "acks"
    acks.mkdir()
    with SessionDB(path) as db:
        for lane in LANES:
            db.create_session(lane, "cli")
    visitor = nursery.start("visit_always", path, acks / "ours.visits")
    with foreign_visits(path, acks / "foreign.visits"):
        begun = time.monotonic()
        torment(nursery, path, acks)
        seconds = time.monotonic() - begun
    assert nursery.stop(visitor) == -signal.SIGKILL, nursery.complaints()
    with SessionDB(path) as db:
        gone = {lane: missing for lane in LANES if (missing := lost(db, acks, lane))}
        jumbled = [lane for lane in LANES if not is_in_order(db, lane)]
        report = db.verify()
        stored = db.message_count()
    acked = sum(len(acknowledged.numbers(acks, lane)) for lane in LANES)
    opens = sum(file.stat().st_size for file in acks.glob("*.opens"))
    say(
        "kill -9 and SIGTERM",
        cycles=CYCLES,
        acknowledged=acked,
        stored=stored,
        lost=sum(map(len, gone.values())),
        lanes_out_of_order=len(jumbled),
        our_visits=(acks / "ours.visits").stat().st_size,
        foreign_visits=(acks / "foreign.visits").stat().st_size,
        opens_by_hand_per_second=int(opens / seconds),
        seconds=seconds,
    )
    assert (gone, jumbled, report.problems) == ({}, [], [])
    assert nursery.complaints() == ""
    assert acked > CYCLES
    assert acked <= stored <= acked + len(LANES) + CYCLES * 2
    assert integrity(path) == "ok"
