"""Many processes that write to one store at the same time: how long the unlucky one waits."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from ..arena import SESSIONDB, WARM_UP_ROUNDS, ContenderFailed, Contestant, Process, rotated
from ..figures import Rounds, mean, p50, p99, pooled_ratio, summary
from ..results import Comparison, Result, Target
from ..setting import MILLISECOND, SECOND, Setting
from ..works import Work

WRITERS = 16
LONGEST_WAIT_TO_PEER = Target(0.1)
SLOWEST_TO_MEAN = Target(0.5, least=True)


@dataclass(slots=True)
class Crowd:
    """One contestant in many processes on one store, and what each of them took in each round."""

    who: Contestant
    processes: list[Process]
    pool: ThreadPoolExecutor
    rounds: list[list[list[float]]] = field(default_factory=list)

    def ask(self, do: str, **arguments: Any) -> list[Any]:
        """The same order to all at once."""
        return list(self.pool.map(lambda process: process.ask(do, **arguments), self.processes))

    def round(self, number: int) -> None:
        found = [answer["took"] for answer in self.ask("round", number=number)]
        if number >= WARM_UP_ROUNDS:
            self.rounds.append(found)

    @property
    def times(self) -> Rounds:
        return Rounds([list(chain.from_iterable(each)) for each in self.rounds])

    def shares(self) -> list[float]:
        """Of each round: the rate of the slowest process against the mean of all."""
        rates = [[len(took) / sum(took) for took in each] for each in self.rounds]
        return [min(each) / mean(each) for each in rates]


@contextmanager
def gathered(who: Contestant, setting: Setting, work: Work) -> Iterator[Crowd]:
    path = str(setting.stores.new())
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(WRITERS))
        crowd = Crowd(who, [stack.enter_context(Process(who)) for _ in range(WRITERS)], pool)
        # The first makes the store: who creates it is not measured here.
        crowd.processes[0].ask("open", path=path)
        for process in crowd.processes[1:]:
            process.ask("open", path=path)
        crowd.ask("prepare", **asdict(work))
        yield crowd
        crowd.ask("close")


def writers(setting: Setting) -> Result:
    result = Result("writers", f"{WRITERS} processes append to one store at once, one durable commit each")
    work = Work("append", setting.sizes.appends, setting.rounds + WARM_UP_ROUNDS)
    with ExitStack() as stack:
        crowds = [stack.enter_context(gathered(SESSIONDB, setting, work))]
        for peer in setting.peers:
            crowds += _joined(stack, peer, setting, work, result)
        for number in range(work.rounds):
            for crowd in rotated(crowds, number):
                _one_round(crowd, number, crowds, result)
    for crowd in crowds:
        result.figures[crowd.who.name] = _figures(crowd)
    result.comparisons = _comparisons(crowds)
    return result


def _joined(stack: ExitStack, peer: Contestant, setting: Setting, work: Work, result: Result) -> list[Crowd]:
    try:
        return [stack.enter_context(gathered(peer, setting, work))]
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
    times = crowd.times
    return {
        "p50 ms": times.typical(p50) / MILLISECOND,
        "p99 ms": times.overall(p99) / MILLISECOND,
        "max ms": times.overall(max) / MILLISECOND,
        "appends/s": WRITERS * SECOND / times.typical(mean),
    }


def _comparisons(crowds: list[Crowd]) -> list[Comparison]:
    ours, *peers = crowds
    made = [Comparison("slowest process / mean", summary(ours.shares()), target=SLOWEST_TO_MEAN)]
    for peer in peers:
        longest = pooled_ratio(ours.times, peer.times, max)
        made.append(Comparison(f"longest wait / {peer.who.name}", longest, target=LONGEST_WAIT_TO_PEER))
        rate = pooled_ratio(peer.times, ours.times, mean)
        made.append(Comparison(f"rate / {peer.who.name}", rate))
        made.append(Comparison(f"{peer.who.name}: slowest process / mean", summary(peer.shares())))
    return made
