"""Looking after a store: what a check finds, what was saved, copied or given back; and who can do it.

A provider that has something to look after registers an `Upkeep` under its name (kind `upkeep` of the registry).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast

from . import registry
from .errors import Invalid, NotSupported

Area = Literal["data", "index", "settings"]
Severity = Literal["damage", "warning", "note"]
Tick = Callable[[int], None]
# Told how many pages are copied or read, and of how many.
Pages = Callable[[int, int], None]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be: a sentence, and the one command that comes next."""

    area: Area
    severity: Severity
    message: str
    next_step: str | None = None


@dataclass(slots=True)
class Diagnosis:
    path: str
    facts: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def damaged(self) -> bool:
        return any(finding.severity == "damage" for finding in self.findings)

    def add(self, area: Area, severity: Severity, message: str, next_step: str | None = None) -> None:
        self.findings.append(Finding(area, severity, message, next_step))


@dataclass(slots=True)
class TableSaved:
    """Rows of one table; `lost` are those that an index or a counter still knows of."""

    table: str
    saved: int = 0
    lost: int = 0


@dataclass(slots=True)
class Salvage:
    """What came out of a damaged store, and what did not.

    `placeholders` are sessions that are lost themselves but not all their messages; `doubtful_sessions` come from
    pages whose checksum does not fit.
    """

    source: str
    target: str
    tables: list[TableSaved] = field(default_factory=list)
    lost_sessions: list[str] = field(default_factory=list)
    placeholders: list[str] = field(default_factory=list)
    doubtful_sessions: list[str] = field(default_factory=list)
    lost_messages: dict[str, list[int]] = field(default_factory=dict)
    altered_messages: dict[str, list[int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every row that is known of came over as it was written."""
        doubts = (self.lost_sessions, self.placeholders, self.doubtful_sessions, self.lost_messages)
        return not any(table.lost for table in self.tables) and not any(doubts) and not self.altered_messages


@dataclass(frozen=True, slots=True)
class Backup:
    """A verified copy; `made` is False when one that is young enough was there already."""

    path: str
    made: bool
    size: int
    sessions: int = 0
    messages: int = 0
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    path: str
    sessions: int
    messages: int
    kept_aside: str | None = None


@dataclass(frozen=True, slots=True)
class Optimized:
    before: int
    after: int
    note: str | None = None


class Upkeep(Protocol):
    """What a provider does for its stores; `path` names one, open or not."""

    def verify(self, path: str, tick: Tick | None = None) -> Any:
        """Check the ledgers of a store or backup without touching it; a `verify.Report`."""

    def doctor(self, path: str, tick: Tick | None = None) -> Diagnosis: ...

    def repair(self, path: str, output: str | None = None, read: Pages | None = None) -> Salvage: ...

    def backup(
        self,
        path: str,
        target: str | None = None,
        *,
        keep: int | None = None,
        every: float | None = None,
        copied: Pages | None = None,
        tick: Tick | None = None,
    ) -> Backup: ...

    def restore(
        self, backup: str, path: str, *, over: bool = False, copied: Pages | None = None, tick: Tick | None = None
    ) -> Restored: ...

    def optimize(
        self, path: str, *, full: bool = False, large: str | None = None, tick: Tick | None = None
    ) -> Optimized:
        """Give space back; `large` says how large texts are kept from now on: plain, zlib or off."""

    def reindex(self, path: str, tick: Callable[[int, int], None] | None = None) -> int:
        """Build the search index anew; `tick` is told done and total. Returns its size in bytes."""


def of(provider: str) -> Upkeep:
    """The upkeep of a provider. Raises NotSupported where there is none."""
    if not registry.has("upkeep", provider):
        raise NotSupported(f"a {provider} store is looked after with the tools of its server, not from here")
    return cast(Upkeep, registry.load("upkeep", provider)())


def seconds(duration: str) -> float:
    """ "90s", "30m", "24h", "7d", "2w" in seconds. Raises Invalid."""
    found = _DURATION.fullmatch(duration) if isinstance(duration, str) else None
    if found is None:
        raise Invalid(f"a duration is a number and a unit, such as 30m, 24h, 7d or 2w; not {duration!r}")
    return float(found[1]) * _UNITS[found[2]]
