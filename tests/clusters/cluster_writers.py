"""Writers around a cluster, what they were told, and what is there."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import cluster_writer

from sessiondb.db import SessionDB

PATIENCE = 90.0


@dataclass
class Ack:
    number: int
    at: float
    tries: int


class Writers:
    """Processes that write until they are ended; a lane each."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self.sessions: dict[str, str] = {}

    def start(self, lane: str, place: tuple[str, dict[str, Any]], session: str | None = None, **more: Any) -> None:
        self.sessions[lane] = session or lane
        work = {"lane": lane, "session": session or lane, "place": place, "acks": str(self._acks(lane)), **more}
        command = [sys.executable, cluster_writer.__file__, json.dumps(work)]
        self.processes[lane] = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def _acks(self, lane: str) -> Path:
        return self.directory / f"{lane}.acks"

    def acks(self, lane: str) -> list[Ack]:
        path = self._acks(lane)
        lines = path.read_text().splitlines() if path.exists() else []
        return [Ack(int(number), float(at), int(tries)) for number, at, tries in map(str.split, lines)]

    def count(self) -> int:
        return sum(len(self.acks(lane)) for lane in self.processes)

    def wait_for_each(self, more: int) -> None:
        """Until every lane has so many more acknowledgements than now."""
        wanted = {lane: len(self.acks(lane)) + more for lane in self.processes}
        self.wait_for(lambda: all(len(self.acks(lane)) >= number for lane, number in wanted.items()), "all to go on")

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + PATIENCE
        while not condition():
            for lane, process in self.processes.items():
                assert process.poll() is None, f"{lane} ended: {process.communicate()[1]}"
            assert time.monotonic() < until, f"waited {PATIENCE:g} s for {what}: {self.count()} acknowledged"
            time.sleep(0.01)

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()
            if process.stderr is not None:
                process.stderr.close()

    def first_ack_after(self, moment: float) -> float:
        """How long after a moment the first message was acknowledged."""
        # Answers that were on their way already are noted a little later.
        later = [ack.at for lane in self.processes for ack in self.acks(lane) if ack.at > moment + 0.05]
        return min(later) - moment


@contextmanager
def writers(directory: Path) -> Iterator[Writers]:
    running = Writers(directory)
    try:
        yield running
    finally:
        running.end()


@dataclass
class Found:
    acknowledged: int
    lost: int
    doubled: int
    out_of_order: int

    def __str__(self) -> str:
        return f"{self.acknowledged:,} acknowledged, {self.lost} lost, {self.doubled} doubled"


def compare(db: SessionDB, running: Writers) -> Found:
    """What was acknowledged against what is stored; the last of a lane may be stored without its writer's knowing."""
    found = Found(0, 0, 0, 0)
    for lane, session in running.sessions.items():
        stored = [int(text.partition(":")[2]) for text in _texts(db, session) if text.startswith(f"{lane}:")]
        counts = Counter(stored)
        numbers = [ack.number for ack in running.acks(lane)]
        found.acknowledged += len(numbers)
        found.lost += sum(number not in counts for number in numbers)
        found.doubled += sum(count - 1 for count in counts.values())
        found.out_of_order += sum(later < earlier for earlier, later in pairwise(stored))
    return found


def _texts(db: SessionDB, session: str) -> list[str]:
    return [str(row["content"]) for row in db.iter_messages(session)]
