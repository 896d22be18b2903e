"""What a scenario found: figures per contender, and comparisons with their targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .figures import Ratio

Unit = Literal["x", "ms", "%", "MB", "/s"]


@dataclass(frozen=True, slots=True)
class Target:
    """A bound that is printed beside a comparison; `least` when more is better."""

    bound: float
    least: bool = False

    def is_met(self, value: float) -> bool:
        return value >= self.bound if self.least else value <= self.bound


@dataclass(frozen=True, slots=True)
class Comparison:
    label: str
    value: Ratio
    unit: Unit = "x"
    target: Target | None = None

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.target.is_met(self.value.middle)


@dataclass(slots=True)
class Result:
    """`figures`: contender -> column (with its unit) -> value; `durability`: contender -> journal and synchronous."""

    name: str
    what: str
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    comparisons: list[Comparison] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    durability: dict[str, str] = field(default_factory=dict)
    # What is drawn: a column of the figures.
    plot: str = ""
    # How many messages the store had, where that decides the figures.
    held: int = 0

    def add(self, label: str, row: dict[str, float], durability: str = "") -> None:
        self.figures[label] = row
        if durability:
            self.durability[label] = durability
