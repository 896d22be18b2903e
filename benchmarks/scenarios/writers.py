"""Many processes that write to one store at the same time: how long the unlucky one waits, and who is turned away."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from ..arena import SESSIONDB, WARM_UP_ROUNDS, ContenderFailed, Contestant, Process, rotated
from ..figures import Rounds, mean, p50, p99, pooled_ratio, summary
from ..peers import HERMES
from ..results import Comparison, Result, Target
from ..setting import MILLISECOND, SECOND, Setting, durability
from ..works import Work

LONGEST_WAIT_TO_PEER = Target(0.1)
SLOWEST_TO_MEAN = Target(0.5, least=True)


@dataclass(slots=True)
class Crowd:
    """One contestant in many processes on one store, and what each of them took in each round."""

    who: Contestant
    processes: list[Process]
    pool: ThreadPoolExecutor
    rounds: list[list[list[float]]] = field(default_factory=list)
    failed: int = 0
    reason: str = ""
    durability: str = ""

    def ask(self, do: str, **arguments: Any) -> list[Any]:
        """The same order to all at once."""
        return list(self.pool.map(lambda process: process.ask(do, **arguments), self.processes))

    def round(self, number: int) -> None:
        answers = self.ask("crowded_round", number=number)
        if number >= WARM_UP_ROUNDS:
            self.rounds.append([answer["took"] for answer in answers])
            self.failed += sum(answer["failed"] for answer in answers)
            self.reason = next((answer["reason"] for answer in answers if answer["failed"]), self.reason)

    @property
    def times(self) -> Rounds:
        return Rounds([list(chain.from_iterable(each)) for each in self.rounds])

    @property
    def tried(self) -> int:
        return sum(len(took) for each in self.rounds for took in each)

    @property
    def acknowledged(self) -> float:
        """The share of the appends that were not turned away."""
        return 1 - self.failed / self.tried

    def shares(self) -> list[float]:
        """Of each round: the rate of the slowest process against the mean of all."""
        rates = [[len(took) / sum(took) for took in each] for each in self.rounds]
        return [min(each) / mean(each) for each in rates]


@contextmanager
def gathered(who: Contestant, setting: Setting, work: Work, count: int) -> Iterator[Crowd]:
    path = str(setting.stores.new())
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(count))
        crowd = Crowd(who, [stack.enter_context(Process(who)) for _ in range(count)], pool)
        # The first makes the store: who creates it is not measured here.
        crowd.processes[0].ask("open", path=path)
        for process in crowd.processes[1:]:
            process.ask("open", path=path)
        crowd.ask("prepare", **asdict(work))
        crowd.durability = durability(crowd.processes[0].ask("facts"))
        yield crowd
        crowd.ask("close")


def writers(setting: Setting) -> Result:
    counts = setting.sizes.writers
    result = Result("writers", "processes append to one store at once, one durable commit each", plot="max ms")
    work = Work("append", setting.sizes.crowd, setting.rounds + WARM_UP_ROUNDS)
    for count in counts:
        crowds = _raced(setting, work, count, result)
        for crowd in crowds:
            result.add(f"{crowd.who.name}, {count} processes", _figures(crowd), crowd.durability)
            result.notes += _turned_away(crowd)
        result.comparisons += _comparisons(crowds, count)
    return result


def _raced(setting: Setting, work: Work, count: int, result: Result) -> list[Crowd]:
    with ExitStack() as stack:
        crowds = [stack.enter_context(gathered(SESSIONDB, setting, work, count))]
        for peer in setting.rivals("append"):
            crowds += _joined(stack, peer, setting, work, count, result)
        for number in range(work.rounds):
            for crowd in rotated(crowds, number):
                _one_round(crowd, number, crowds, result)
    return crowds


def _turned_away(crowd: Crowd) -> list[str]:
    if not crowd.failed:
        return []
    who = f"{crowd.who.name}, {len(crowd.processes)} processes"
    return [f"{who}: {crowd.failed} of {crowd.tried} appends failed ({crowd.reason[:80]})"]


def _joined(
    stack: ExitStack, peer: Contestant, setting: Setting, work: Work, count: int, result: Result
) -> list[Crowd]:
    try:
        return [stack.enter_context(gathered(peer, setting, work, count))]
    except ContenderFailed as exc:
        result.notes.append(f"gave up: {exc}")
        return []


def _one_round(crowd: Crowd, number: int, crowds: list[Crowd], result: Result) -> None:
    """A peer that cannot bear the crowd leaves the race, and that is a result."""
    try:
        crowd.round(number)
    except ContenderFailed as exc:
        if not crowd.who.is_peer:
            raise
        crowds.remove(crowd)
        result.notes.append(f"gave up: {exc}")


def _figures(crowd: Crowd) -> dict[str, float]:
    times, share = crowd.times, crowd.acknowledged
    return {
        "p50 ms": times.typical(p50) / MILLISECOND,
        "p99 ms": times.overall(p99) / MILLISECOND,
        "max ms": times.overall(max) / MILLISECOND,
        "appends/s": share * len(crowd.processes) * SECOND / times.typical(mean),
        "acknowledged %": share * 100,
    }


def _comparisons(crowds: list[Crowd], count: int) -> list[Comparison]:
    ours, *others = crowds
    made = [Comparison(f"{count}: slowest process / mean", summary(ours.shares()), target=SLOWEST_TO_MEAN)]
    for crowd in others:
        name = crowd.who.name
        longest = pooled_ratio(ours.times, crowd.times, max)
        target = LONGEST_WAIT_TO_PEER if name.startswith(HERMES.name) else None
        made.append(Comparison(f"{count}: longest wait / {name}", longest, target=target))
        made.append(Comparison(f"{count}: rate / {name}", pooled_ratio(crowd.times, ours.times, mean)))
        made.append(Comparison(f"{count}: {name}: slowest process / mean", summary(crowd.shares())))
    return made
