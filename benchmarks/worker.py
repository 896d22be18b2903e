"""The process of a contender: an order per line on stdin, an answer per line on stdout; standard library only."""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter_ns, process_time_ns
from typing import Any, TextIO

from .peak import megabytes
from .works import Work

Operation = Callable[[], object]

# What SQLite answers to `PRAGMA synchronous`, by number.
SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


class Contender(ABC):
    """Does the same work as the others, its own way."""

    _rounds: Sequence[Sequence[Operation]] = ()
    _passes = 1

    @abstractmethod
    def fill(self, path: str, sessions: int, messages_each: int) -> None:
        """Create a store with history in it, and close it."""

    @abstractmethod
    def open(self, path: str) -> None:
        """Open a store, new or filled, and begin the sessions that live."""

    @abstractmethod
    def operations(self, work: Work, number: int) -> Sequence[Operation]:
        """What is timed in one round; all parameters are made here."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What decides whether a comparison is fair: `synchronous`, `journal` and the number of `messages` stored."""

    @abstractmethod
    def close(self) -> None: ...

    def settle(self) -> None:  # noqa: B027 - most have nothing to do
        """Do now what was put off: an index that lags, a log to be folded in."""

    def peak_megabytes(self) -> float:
        """The most memory that this process has had, interpreter and libraries included."""
        return megabytes()

    def prepare(self, **work: Any) -> None:
        wanted = Work(**work)
        self._rounds = [self.operations(wanted, number) for number in range(wanted.rounds)]
        self._passes = wanted.passes
        gc.collect()
        # What waits to be timed is no garbage; looking through it would be charged to whoever runs.
        gc.freeze()

    def round(self, number: int) -> dict[str, Any]:
        """The nanoseconds of each operation of a round, and those that the processor worked for all of them."""
        worked = process_time_ns()
        passes = [_timed(self._rounds[number]) for _ in range(self._passes)]
        worked = process_time_ns() - worked
        took = passes[0] if len(passes) == 1 else [median(times) for times in zip(*passes, strict=True)]
        return {"took": took, "worked": worked / len(passes)}

    def crowded_round(self, number: int) -> dict[str, Any]:
        """The same among others, where an operation that fails is counted and the next is tried."""
        took, failed, reason = [], 0, ""
        for operation in self._rounds[number]:
            begun = perf_counter_ns()
            try:
                operation()
            except Exception as exc:  # noqa: BLE001 - whatever a contender raises is its failure
                failed, reason = failed + 1, f"{type(exc).__name__}: {exc}"
            took.append(perf_counter_ns() - begun)
        return {"took": took, "failed": failed, "reason": reason}


def _timed(operations: Sequence[Operation]) -> list[float]:
    took: list[float] = []
    for operation in operations:
        begun = perf_counter_ns()
        operation()
        took.append(perf_counter_ns() - begun)
    return took


def _answer(contender: Contender, line: str) -> dict[str, Any]:
    order = json.loads(line)
    try:
        return {"answer": getattr(contender, order.pop("do"))(**order)}
    except Exception as exc:  # noqa: BLE001 - whatever a contender raises is reported as its failure
        traceback.print_exc()
        return {"error": f"{type(exc).__name__}: {exc}"}


def _own_channel() -> TextIO:
    """The stdout that the harness reads; what libraries print goes to stderr from now on."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return channel


def serve(contender: Contender) -> None:
    channel = _own_channel()
    for line in sys.stdin:
        print(json.dumps(_answer(contender, line)), file=channel, flush=True)
