"""How long sessions of each source are kept; only where somebody asked for it, and to the trash first.

Open and pinned sessions stay, whatever their age: this is `prune_sessions`, a source at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .db import SessionDB
from .errors import Invalid
from .models import ListedSession
from .upkeep import seconds

DAY = 86_400.0
Rules = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Due:
    """The sessions of one source that are older than its rule allows."""

    source: str
    days: float
    sessions: tuple[ListedSession, ...]


def due(db: SessionDB, rules: Rules) -> list[Due]:
    """What `apply` would move to the trash, source by source in the order of the rules."""
    return [
        Due(source, days, tuple(db.list_prunable(days, source)))
        for source, days in ((source, _days(source, rule)) for source, rule in rules.items())
    ]


def apply(db: SessionDB, rules: Rules) -> int:
    """Move what is due to the trash, where it stays restorable; returns how many sessions."""
    checked = [(source, _days(source, rule)) for source, rule in rules.items()]
    return sum(db.prune_sessions(days, source) for source, days in checked)


def _days(source: str, rule: str | int | float) -> float:
    """A rule is a duration such as "30d", or a number of days. Raises Invalid."""
    if isinstance(rule, str):
        return seconds(rule) / DAY
    if isinstance(rule, bool) or not isinstance(rule, int | float) or not rule > 0:
        raise Invalid(f"retention of {source!r} must be a duration such as 30d, not {rule!r}")
    return float(rule)
