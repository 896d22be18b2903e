"""`python -m benchmarks.profiles [DIR]`: where the time of the five hot paths goes, by samples of the running stack.

A sample is taken every half millisecond of real time, so that waiting for the disk counts and nothing is slowed down.
It belongs to the innermost function of sessiondb; what SQLite does belongs to the function that calls it.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from time import perf_counter
from types import FrameType

from . import searches, stores
from .arena import SESSIONDB
from .contenders.ours import Ours
from .worker import Operation
from .works import Work

EVERY = 0.0005
SECONDS = 2.0
SHOWN = 8
READS = ("search", "list", "load")
EACH = 50
PACKAGE = "sessiondb"
PATHS = {"append": (1, 500), "batch": (500, 20), "search": (1, 1), "list": (1, 20), "load": (2, 20)}


def sampled(operations: Iterable[Operation], seconds: float) -> tuple[float, Counter[str]]:
    """The mean microseconds of an operation, and how often each function was seen."""
    seen: Counter[str] = Counter()

    def note(_: int, frame: FrameType | None) -> None:
        seen[_owner(frame)] += 1

    before = signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, EVERY, EVERY)
    begun, done = perf_counter(), 0
    try:
        for operation in operations:
            operation()
            done += 1
            if perf_counter() - begun > seconds:
                break
        took = perf_counter() - begun
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return took / done * 1e6, seen


def _owner(frame: FrameType | None) -> str:
    while frame is not None:
        _, found, inside = frame.f_code.co_filename.rpartition(f"/{PACKAGE}/")
        if found:
            return f"{inside.removesuffix('.py')}: {frame.f_code.co_name}"
        frame = frame.f_back
    return "elsewhere"


def profiled(kind: str, path: Path, seconds: float) -> list[str]:
    size, count = PATHS[kind]
    program = Ours()
    program.open(str(path))
    rounds = 1 if kind in READS else max(1, int(seconds * 4))
    work = Work(kind, len(searches.queries()) if kind == "search" else count, rounds, size)
    operations = [each for number in range(rounds) for each in program.operations(work, number)]
    took, seen = sampled(cycle(operations) if kind in READS else operations, seconds)
    program.close()
    total = sum(seen.values()) or 1
    lines = [
        f"## {kind}\n",
        f"{took:,.0f} µs on average, {total:,} samples.\n",
        "| where | share | µs |",
        "|---|---:|---:|",
    ]
    rows = ((name, hits / total) for name, hits in seen.most_common(SHOWN))
    return [*lines, *(f"| {name} | {share:.0%} | {share * took:,.0f} |" for name, share in rows), ""]


def write(directory: Path, home: stores.Stores, seconds: float = SECONDS, sessions: int = 100) -> None:
    assert __doc__ is not None
    filled = home.filled(SESSIONDB, sessions, EACH)
    head = ["# Where the microseconds go\n", "Written by `python -m benchmarks.profiles`; do not edit.\n"]
    told = [
        *head,
        __doc__.partition("\n\n")[2],
        f"A store of {sessions * EACH:,} messages, {EACH} to a conversation; `search`: the mean of all kinds.\n",
    ]
    body = [line for kind in PATHS for line in profiled(kind, home.copy(filled), seconds)]
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "profiles.md").write_text("\n".join([*told, *body]), encoding="utf-8")


if __name__ == "__main__":
    with stores.temporary(None) as where:
        write(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/benchmarks"), where)
