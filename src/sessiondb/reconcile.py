"""What a session of one store is to the session of the same id, or of the same origin, in another.

The ledgers tell: equal ones mean the same messages in the same places, and a store whose ledger equals the other's at
an earlier position has the beginning of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from . import ledger
from .moving import Entry
from .provider import SessionDBProvider
from .quarantine import bad_row
from .readable import read_past

Verdict = Literal["new", "same", "behind", "ahead", "conflict"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`behind`: the target lacks the end of it. `ahead`: the target has more."""

    verdict: Verdict
    # Under which id the target has it, and how far.
    target_id: str
    at: int = 0
    why: str = ""


class Target:
    """The sessions of a target, by id and by origin."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.by_id: dict[str, Entry] = {}
        self._by_origin: dict[tuple[str, str], str] = {}
        for entry in entries:
            self.put(entry)

    def put(self, entry: Entry) -> None:
        self.by_id[entry.id] = entry
        if entry.origin is not None and entry.native_id is not None:
            self._by_origin[entry.origin, entry.native_id] = entry.id

    def counterpart(self, entry: Entry) -> Entry | None:
        if entry.id in self.by_id:
            return self.by_id[entry.id]
        if entry.origin is None or entry.native_id is None:
            return None
        other = self._by_origin.get((entry.origin, entry.native_id))
        return None if other is None else self.by_id[other]


def compare(source: SessionDBProvider, entry: Entry, target: SessionDBProvider, found: Entry | None) -> Finding:
    if found is None:
        return Finding("new", entry.id)
    if (found.last_seq, found.ledger) == (entry.last_seq, entry.ledger):
        return Finding("same", found.id, found.last_seq)
    if found.last_seq <= entry.last_seq and _sum_at(source, target, entry.id, found) == found.ledger:
        verdict: Verdict = "same" if found.last_seq == entry.last_seq else "behind"
        return Finding(verdict, found.id, found.last_seq)
    if entry.last_seq < found.last_seq and target.ledger_at(found.id, entry.last_seq) == entry.ledger:
        return Finding("ahead", found.id, found.last_seq)
    return Finding("conflict", found.id, found.last_seq, _why(entry, found))


def _sum_at(source: SessionDBProvider, target: SessionDBProvider, session_id: str, found: Entry) -> int:
    """The source's ledger where the target stands; of the rows that can be moved, should others be among them."""
    plain = source.ledger_at(session_id, found.last_seq)
    if plain == found.ledger:
        return plain
    limit = target.features.max_content_bytes
    after, terms = 0, []
    while after < found.last_seq:
        part, _ = read_past(source, session_id, after)
        if part is None:
            break
        rows = (row for row in part.rows if row["seq"] <= found.last_seq)
        terms += [row["term"] for row in rows if bad_row(row, limit) is None]
        after = part.last_seq
        if part.complete:
            break
    return ledger.total(terms)


def _why(entry: Entry, found: Entry) -> str:
    ours, theirs = entry.host or "an unknown host", found.host or "an unknown host"
    where = f" (from {ours} here, {theirs} there)" if ours != theirs else ""
    return f"both have messages that the other has not{where}; fork one of them, or delete one, then run it again"
