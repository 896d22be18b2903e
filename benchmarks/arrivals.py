"""`python -m benchmarks.arrivals`: ten thousand writers arrive; how long do they wait? Simulated, seeded.

The cost of a commit is a measured one (scenarios `writers` and `commits`); the machine that measured is the machine
that is simulated. Pure but for `main`.
"""

from __future__ import annotations

import heapq
import random
import sys
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from .figures import mean, p50, p99
from .publish import Entry, known

WRITERS = 10_000
SECONDS = 60.0
HOT = 0.1


@dataclass(frozen=True, slots=True)
class Provider:
    """`lanes` commits at a time, `fixed` seconds each and `each` more per message; `shared`: whoever waits joins.

    `hot`: the share of messages that go to one session through several nodes. Of two such commits at once the
    certification refuses the later one, which is repeated until it is alone; what it cost is spent.
    """

    name: str
    fixed: float
    each: float = 0.0
    lanes: int = 1
    shared: bool = False
    hot: float = 0.0

    def cost(self, messages: int) -> float:
        return self.fixed + self.each * messages


@dataclass(frozen=True, slots=True)
class Waits:
    """Of all arrivals, from asking to being acknowledged; `busy`: the share of time in which lanes worked."""

    mean: float
    p50: float
    p99: float
    longest: float
    busy: float


def arriving(writers: int, interval: float, seconds: float, seed: int = 14) -> list[float]:
    """The times at which independent writers, each with a message per `interval` on average, ask; sorted."""
    source, now, times = random.Random(seed), 0.0, []
    while (now := now + source.expovariate(writers / interval)) < seconds:
        times.append(now)
    return times


def served(provider: Provider, arrivals: list[float]) -> Waits:
    """First come, first served; a shared commit takes all who have come by the time it begins."""
    free, certified, source = [0.0] * provider.lanes, 0.0, random.Random(len(arrivals))
    waits, worked, place = [], 0.0, 0
    while place < len(arrivals):
        begin = max(heapq.heappop(free), arrivals[place])
        end = place + 1
        while provider.shared and end < len(arrivals) and arrivals[end] <= begin:
            end += 1
        done = begin + provider.cost(end - place)
        if source.random() < provider.hot:
            done = certified = _repeated(done, provider.cost(1), certified)
        waits += [done - asked for asked in arrivals[place:end]]
        worked, place = worked + done - begin, end
        heapq.heappush(free, done)
    return Waits(mean(waits), p50(waits), p99(waits), max(waits), worked / (max(free) * provider.lanes))


def _repeated(done: float, cost: float, certified: float) -> float:
    """When a commit to the hot session ends that must not begin before the last one was certified."""
    refused = max(0, ceil((certified - (done - cost)) / cost - 1e-9))
    return done + refused * cost


def measured(results: list[Entry]) -> list[Provider]:
    """The providers with the costs that were measured; those that were not are left out."""
    found = {entry["name"]: entry["figures"] for entry in results}
    made = [_gate(found["writers"])] if "writers" in found else []
    commits = found.get("commits", {})
    if "sqlite, 1 at once" in commits:
        made.append(_group(commits))
    made += [
        Provider(f"{name}, pool of 8", 8 / row["commits/s"], lanes=8)
        for name in ("postgres", "mariadb", "galera")
        if (row := commits.get(f"{name}, 8 at once"))
    ]
    return made + [
        replace(each, name=f"{each.name}, {HOT:.0%} to one session through all nodes", hot=HOT)
        for each in made
        if each.name.startswith("galera")
    ]


def _gate(figures: dict[str, dict[str, float]]) -> Provider:
    rate = [row["appends/s"] for label, row in figures.items() if label.startswith("sessiondb,")][-1]
    return Provider("sqlite, a process each", 1 / rate)


def _group(commits: dict[str, dict[str, float]]) -> Provider:
    """Two measured rates give the two parts of a shared commit: what it costs, and what a message adds."""
    widest = max(int(label.split()[1]) for label in commits if label.startswith("sqlite,"))
    one, many = (1 / commits[f"sqlite, {width} at once"]["commits/s"] for width in (1, widest))
    each = max(0.0, (many * widest - one) / (widest - 1))
    return Provider("sqlite, one process, shared commits", max(one - each, 0.0), each, shared=True)


def table(results: list[Entry], intervals: tuple[float, ...] = (60.0, 10.0, 5.0, 2.0)) -> list[str]:
    lines = [
        "| provider | each writes every | messages/s | busy | p50 ms | p99 ms | longest ms |",
        "|---|" + "---:|" * 6,
    ]
    for provider in measured(results):
        for interval in intervals:
            found = served(provider, arriving(WRITERS, interval, SECONDS))
            times = " | ".join(f"{value * 1e3:,.1f}" for value in (found.p50, found.p99, found.longest))
            lines.append(
                f"| {provider.name} | {interval:g} s | {WRITERS / interval:,.0f} | {found.busy:.0%} | {times} |"
            )
    return lines


if __name__ == "__main__":
    print("\n".join(table(known(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/benchmarks")))))
