"""How good a match is: rare words, often found, in short and recent messages; people's before machines'."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from ..models import AUTOMATION_SOURCES

SATURATION = 1.2
LENGTH_SHARE = 0.75
# A constant, not the store's mean: a score does not move when other messages are added.
USUAL_LENGTH = 100
OLD_SHARE = 0.3
FADING_SECONDS = 30 * 86400.0
EXTRA_WEIGHT = 0.5


def rarity(containing: int, total: int) -> float:
    """The weight of a word that `containing` of `total` messages have; positive even when all have it."""
    return log(1 + (max(total, containing) - containing + 0.5) / (containing + 0.5))


def frequency(count: float, length: int) -> float:
    """What repetition adds, fading, from 0 to SATURATION + 1; the same count means less in a long message."""
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / USUAL_LENGTH)
    return count * (SATURATION + 1) / (count + norm)


def recency(age_seconds: float) -> float:
    """1 for now, falling to OLD_SHARE; the future counts as now."""
    return OLD_SHARE + (1 - OLD_SHARE) * exp(-max(age_seconds, 0.0) / FADING_SECONDS)


def score(frequencies: Sequence[float], rarities: Sequence[float], age_seconds: float) -> float:
    """The worth of one message: the sum over the words asked for, times its recency."""
    return sum(map(float.__mul__, frequencies, rarities)) * recency(age_seconds)


def automated(source: str | None) -> bool:
    """Whether sessions of this source are run by machines; they rank after people's."""
    return source in AUTOMATION_SOURCES
