"""What an import did, by agent; what it left out, with file and line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .base import Skipped

# A file of another kind can have a million bad lines; the first of them tell the story.
MAX_LISTED = 1000


@dataclass(slots=True)
class Tally:
    """One line of the table: an agent's sources below one place."""

    agent: str
    path: str
    files: int = 0
    unchanged: int = 0
    sessions: int = 0
    new: int = 0
    updated: int = 0
    messages: int = 0
    skipped: int = 0
    errors: int = 0


@dataclass(slots=True)
class Report:
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unlisted: int = 0
    # Sessions that a rehearsal has met: a second file of the same is no second session.
    met: set[tuple[str, str]] = field(default_factory=set)
    # Sessions here that have new messages.
    brought: set[str] = field(default_factory=set)
    seconds: float = 0.0

    def tally(self, agent: str, path: Path) -> Tally:
        return self.tallies.setdefault((agent, str(path)), Tally(agent, str(path)))

    def skip(self, tally: Tally, what: Skipped) -> None:
        tally.skipped += 1
        self._list(self.skipped, what)

    def fail(self, tally: Tally, what: Skipped) -> None:
        tally.errors += 1
        self._list(self.errors, what)

    def _list(self, listed: list[Skipped], what: Skipped) -> None:
        if len(listed) < MAX_LISTED:
            listed.append(what)
        else:
            self.unlisted += 1

    def total(self, name: str) -> int:
        return sum(getattr(tally, name) for tally in self.tallies.values())

    def as_dict(self) -> dict[str, Any]:
        return {
            "sources": [{name: getattr(each, name) for name in Tally.__slots__} for each in self.tallies.values()],
            "skipped": [_shown(each) for each in self.skipped],
            "errors": [_shown(each) for each in self.errors],
            "unlisted": self.unlisted,
            "notes": self.notes,
            "seconds": round(self.seconds, 3),
        }


def _shown(what: Skipped) -> dict[str, Any]:
    return {"path": str(what.path), "line": what.line, "why": what.why}
