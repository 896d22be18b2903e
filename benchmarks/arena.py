"""Contenders in processes of their own, and rounds in which they take turns."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from .figures import Rounds
from .works import Work

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 3600.0
# Its figures are thrown away: caches, imports and lazy connections belong to nobody's round.
WARM_UP_ROUNDS = 1


class ContenderFailed(Exception):
    """A contender died, hung or reported an error."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A program to be measured: how it is called in the report, and how its process is started."""

    name: str
    python: str
    module: str
    arguments: tuple[str, ...] = ()
    is_peer: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    # The kinds of work it offers, all when empty; the longest history, in messages, that it can be given in minutes.
    does: frozenset[str] = frozenset()
    most: int = sys.maxsize

    def can(self, kind: str, history: int = 0) -> bool:
        return (not self.does or kind in self.does) and history <= self.most


SESSIONDB = Contestant("sessiondb", sys.executable, "benchmarks.contenders.ours")
FLOOR = Contestant("floor", sys.executable, "benchmarks.contenders.floor", ("dicts",))
FLOOR_TUPLES = Contestant("floor, tuples", sys.executable, "benchmarks.contenders.floor", ("tuples",))
LOOP = Contestant("loop", sys.executable, "benchmarks.contenders.floor", ("rows",))


class Process:
    """A contender at work: one order at a time, one answer each."""

    def __init__(self, contestant: Contestant) -> None:
        self._name = contestant.name
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed with the process
        self._child = subprocess.Popen(
            [contestant.python, "-m", contestant.module, *contestant.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            cwd=ROOT,
            env={**os.environ, **contestant.environment},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._child.kill()
        self._child.communicate()
        self._complaints.close()

    def ask(self, do: str, **arguments: Any) -> Any:
        """Send an order and wait for its answer. Raises ContenderFailed."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise self._failure(do, "died") from None
        answer = json.loads(self._line(do))
        if "error" in answer:
            raise self._failure(do, answer["error"])
        return answer["answer"]

    def _line(self, do: str) -> str:
        assert self._child.stdout is not None
        ready, _, _ = select.select([self._child.stdout], [], [], PATIENCE_SECONDS)
        if not ready:
            raise self._failure(do, f"no answer in {PATIENCE_SECONDS:.0f} seconds")
        line = self._child.stdout.readline()
        if not line:
            raise self._failure(do, "died")
        return line

    def _failure(self, do: str, reason: str) -> ContenderFailed:
        self._complaints.seek(0)
        last = self._complaints.read().strip().splitlines()[-1:]
        details = f" ({last[0]})" if last and last[0] not in reason else ""
        return ContenderFailed(f"{self._name} failed at {do!r}: {reason}{details}")


@dataclass(frozen=True, slots=True)
class Lane:
    """A contestant on a store of its own."""

    label: str
    contestant: Contestant
    store: Path


@dataclass(slots=True)
class Race:
    """What came out: for each lane the nanoseconds of its rounds and its facts; or why it gave up.

    `cpu` is what the processor worked per operation: it stays true when others keep the disk busy.
    """

    work: Work
    times: dict[str, Rounds] = field(default_factory=dict)
    cpu: dict[str, Rounds] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


class _Runner:
    """A lane with its process; when a peer gives up, that is a result."""

    def __init__(self, lane: Lane, process: Process, race: Race) -> None:
        self._lane, self._process, self._race = lane, process, race
        self._took: list[list[float]] = []
        self._worked: list[list[float]] = []

    def ask(self, do: str, **arguments: Any) -> Any:
        if self._lane.label in self._race.failures:
            return None
        try:
            return self._process.ask(do, **arguments)
        except ContenderFailed as exc:
            if not self._lane.contestant.is_peer:
                raise
            self._race.failures[self._lane.label] = str(exc)
            return None

    def prepare(self, work: Work) -> None:
        self.ask("open", path=str(self._lane.store))
        self.ask("prepare", **asdict(work))

    def round(self, number: int) -> None:
        found = self.ask("round", number=number)
        if found is not None and number >= WARM_UP_ROUNDS:
            self._took.append(found["took"])
            self._worked.append([found["worked"] / self._race.work.count])

    def finish(self) -> None:
        facts = self.ask("facts")
        self.ask("close")
        if self._lane.label not in self._race.failures:
            self._race.times[self._lane.label] = Rounds(self._took)
            self._race.cpu[self._lane.label] = Rounds(self._worked)
            self._race.facts[self._lane.label] = facts


def rotated(items: Sequence[T], by: int) -> list[T]:
    """The same items with another one first: nobody always runs after the same neighbour's warm cache."""
    place = by % len(items)
    return [*items[place:], *items[:place]]


def race(lanes: Sequence[Lane], kind: str, *, count: int, rounds: int, size: int = 1, passes: int = 1) -> Race:
    """Let all lanes do the same work, round by round, never two at a time."""
    work = Work(kind, count, rounds + WARM_UP_ROUNDS, size, passes)
    result = Race(work)
    with ExitStack() as stack:
        runners = [_Runner(lane, stack.enter_context(Process(lane.contestant)), result) for lane in lanes]
        for runner in runners:
            runner.prepare(work)
        for number in range(work.rounds):
            for runner in rotated(runners, number):
                runner.round(number)
        for runner in runners:
            runner.finish()
    return result
