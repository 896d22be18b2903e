"""Medians, percentiles and ratios; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

Statistic = Callable[[Sequence[float]], float]


def percentile(share: float) -> Statistic:
    def at_share(values: Sequence[float]) -> float:
        ordered = sorted(values)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return at_share


p50: Statistic = median
p99 = percentile(0.99)
mean: Statistic = fmean


@dataclass(frozen=True, slots=True)
class Rounds:
    """The times of one contender, round by round."""

    rounds: Sequence[Sequence[float]]

    def each(self, statistic: Statistic) -> list[float]:
        return [statistic(values) for values in self.rounds]

    def typical(self, statistic: Statistic) -> float:
        """The median round: a round that something else disturbed does not count."""
        return median(self.each(statistic))

    def overall(self, statistic: Statistic) -> float:
        return statistic([value for values in self.rounds for value in values])


@dataclass(frozen=True, slots=True)
class Ratio:
    """One contender against another, compared within each round: the middle, and how far rounds disagree."""

    middle: float
    lowest: float
    highest: float


def ratio(numerator: Rounds, denominator: Rounds, statistic: Statistic) -> Ratio:
    pairs = zip(numerator.each(statistic), denominator.each(statistic), strict=True)
    return summary([above / below for above, below in pairs])


def pooled_ratio(numerator: Rounds, denominator: Rounds, statistic: Statistic) -> Ratio:
    """Over all rounds together, for costs that come in rare big pieces which a median round does not see."""
    spread = ratio(numerator, denominator, statistic)
    return Ratio(numerator.overall(statistic) / denominator.overall(statistic), spread.lowest, spread.highest)


def summary(values: Sequence[float]) -> Ratio:
    return Ratio(median(values), min(values), max(values))
