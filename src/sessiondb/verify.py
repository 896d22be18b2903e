"""Is everything there that was acknowledged? Recompute terms (positions) and ledgers (sessions) and compare.

A row whose term does not fit its content and position was altered or moved. A session whose rows do not add up to its
ledger lost or gained rows; what is missing is then one of the positions without a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import ledger
from .models import Filter, Page, SessionRow
from .provider import SessionDBProvider

Tick = Callable[[int], None]
_MOST_CANDIDATES = 20
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Problem:
    session_id: str
    kind: str
    message: str
    positions: tuple[int, ...] = ()


@dataclass(slots=True)
class Report:
    sessions: int = 0
    messages: int = 0
    not_adopted: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


def verify(provider: SessionDBProvider, session_id: str | None = None, tick: Tick | None = None) -> Report:
    """Check one session or all; `tick` is called with the number of messages checked since the last call."""
    report = Report()
    for session in _sessions(provider, session_id):
        checked = check_session(session, provider.stored_messages(session["id"]), report)
        if tick:
            tick(checked)
    return report


def _sessions(provider: SessionDBProvider, session_id: str | None) -> Iterable[SessionRow]:
    where = Filter(ids=None if session_id is None else (session_id,))
    offset = 0
    while page := provider.list_sessions(where, Page(_PAGE, offset), "started"):
        yield from page
        offset += len(page)


def check_session(session: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], report: Report) -> int:
    """Compare one session with its stored rows, add to the report, return the number of rows."""
    terms: list[int] = []
    altered: list[int] = []
    seen: set[int] = set()
    doubled: list[int] = []
    adrift = 0
    for row in rows:
        seq = row["seq"]
        if seq is None:
            adrift += 1
            continue
        stored = row["term"]
        if stored != ledger.term(ledger.digest(row), seq):
            altered.append(seq)
        if seq in seen:
            doubled.append(seq)
        seen.add(seq)
        terms.append(stored or 0)
    report.sessions += 1
    report.messages += len(terms) + adrift
    report.not_adopted += adrift
    report.problems.extend(_problems(session, terms, seen, altered, doubled))
    return len(terms) + adrift


def _problems(
    session: Mapping[str, Any], terms: list[int], seen: set[int], altered: list[int], doubled: list[int]
) -> Iterable[Problem]:
    name, last = session["id"], session["last_seq"] or 0
    if altered:
        yield Problem(name, "altered", _at("altered or moved", altered), tuple(altered))
    if doubled:
        yield Problem(name, "doubled", _at("stored twice", doubled), tuple(doubled))
    beyond = sorted(seq for seq in seen if seq > last)
    if beyond:
        yield Problem(name, "beyond", _at(f"beyond the last acknowledged position {last}", beyond), tuple(beyond))
    if ledger.total(terms) != (session["ledger"] or 0):
        missing = [seq for seq in range(1, last + 1) if seq not in seen]
        yield Problem(name, "ledger", _missing(missing), tuple(missing))


def _at(what: str, positions: list[int]) -> str:
    return f"{what}: position {_short(positions)}"


def _missing(positions: list[int]) -> str:
    if not positions:
        return "the rows do not add up to the ledger, yet no position is missing: a row was added or altered"
    return f"the rows do not add up to the ledger; lost are some or all of position {_short(positions)}"


def _short(positions: list[int]) -> str:
    shown = ", ".join(map(str, positions[:_MOST_CANDIDATES]))
    return shown + (f" and {len(positions) - _MOST_CANDIDATES} more" if len(positions) > _MOST_CANDIDATES else "")
