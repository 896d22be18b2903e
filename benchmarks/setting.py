"""What all scenarios share: sizes, rounds, stores, who takes part, and the figures that are made of a race."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .arena import ContenderFailed, Contestant, Lane, Race
from .figures import Ratio, Statistic, mean, p50, p99, ratio
from .results import Comparison, Result, Target
from .sizes import Sizes
from .stores import Stores

MICROSECOND = 1e3
MILLISECOND = 1e6
SECOND = 1e9
DURABLE = "FULL"


@dataclass(frozen=True, slots=True)
class Setting:
    sizes: Sizes
    rounds: int
    stores: Stores
    # The peer of the targets; other libraries that keep conversations.
    peers: tuple[Contestant, ...] = ()
    others: tuple[Contestant, ...] = ()
    # Why libraries did not take part in the scenario that runs.
    excuses: list[str] = field(default_factory=list)

    def lanes(self, contestants: Iterable[Contestant], store: Callable[[Contestant], Path]) -> list[Lane]:
        made = []
        for contestant in contestants:
            with self.excused(contestant):
                made.append(Lane(contestant.name, contestant, store(contestant)))
        return made

    @contextmanager
    def excused(self, who: Contestant) -> Iterator[None]:
        """A library that fails is left out, and that is noted; one of ours that fails ends the run."""
        try:
            yield
        except ContenderFailed as exc:
            if not who.is_peer:
                raise
            self.excuses.append(f"gave up: {exc}")

    def rivals(self, kind: str, history: int = 0) -> tuple[Contestant, ...]:
        """Whoever else does this kind of work on so long a history."""
        return tuple(who for who in (*self.peers, *self.others) if who.can(kind, history))

    def empty(self, _: Contestant) -> Path:
        return self.stores.new()


Scenario = Callable[[Setting], Result]


def latencies(race: Race, label: str, unit: float, name: str) -> dict[str, float]:
    times = race.times[label]
    return {
        f"p50 {name}": times.typical(p50) / unit,
        f"p99 {name}": times.overall(p99) / unit,
        f"mean {name}": times.typical(mean) / unit,
        f"max {name}": times.overall(max) / unit,
        f"cpu {name}": race.cpu[label].typical(mean) / unit,
    }


def add_rows(result: Result, race: Race, unit: float, name: str, suffix: str = "") -> None:
    """The latencies of all lanes, with their durability beside them."""
    for label in race.times:
        result.add(f"{label}{suffix}", latencies(race, label, unit, name), durability(race.facts[label]))


def durability(facts: Mapping[str, Any]) -> str:
    """What an acknowledged message survives, by the two settings that decide it."""
    return f"{facts['journal'].lower()}, {facts['synchronous']}"


def durabilities(race: Race) -> list[str]:
    """For tables whose rows are not contenders."""
    return [f"{label}: {durability(facts)}" for label, facts in race.facts.items()]


def against(
    race: Race, label: str, above: str, below: str, statistic: Statistic, target: Target | None = None
) -> list[Comparison]:
    """How many times `below` fits into `above`; nothing when one of them gave up."""
    if above not in race.times or below not in race.times:
        return []
    return [Comparison(label, ratio(race.times[above], race.times[below], statistic), target=target)]


def worked(race: Race, label: str, above: str, below: str) -> list[Comparison]:
    """The same for the processor's work alone, without waiting for the disk."""
    if above not in race.cpu or below not in race.cpu:
        return []
    return [Comparison(label, ratio(race.cpu[above], race.cpu[below], mean))]


def milliseconds(race: Race, label: str, of: str, target: Target) -> Comparison:
    medians = [value / MILLISECOND for value in race.times[of].each(p50)]
    middle = race.times[of].typical(p50) / MILLISECOND
    return Comparison(label, Ratio(middle, min(medians), max(medians)), "ms", target)


def fairness(race: Race) -> list[str]:
    """What a reader must know before believing a ratio."""
    notes = [f"gave up: {reason}" for reason in race.failures.values()]
    for label, facts in race.facts.items():
        if facts["synchronous"] != DURABLE:
            notes.append(f"{label} runs with synchronous={facts['synchronous']}: less durable than the others")
    return notes + _uneven(race)


def _uneven(race: Race) -> list[str]:
    counts = {label: facts["messages"] for label, facts in race.facts.items()}
    if len(set(counts.values())) <= 1:
        return []
    return [f"messages stored differ: {', '.join(f'{label} {count}' for label, count in counts.items())}"]


def statements(race: Race, floor: str) -> str:
    """What an operation costs in statements: a ratio against them does not show one too many."""
    said = [" ".join(sql.split()[:2]).rstrip(";") for sql in race.facts[floor]["statements"]]
    return f"{race.work.kind} is, for the floor: {'; '.join(said)}"
