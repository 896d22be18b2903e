"""The first cut of a relaxed search, from the index: who holds which parts, rare ones first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

from ....models import Filter, MessageFilter
from ....search import rank
from ....search.nodes import Node, all_of, any_of
from ....search.query import Query
from ....search.relaxed import Candidate, Candidates, best, candidate, held_parts, rarities_of, worth
from ....sql import rows
from ....sql.driver import Params
from ....sql.escape import unescape
from ....sql.filters import marks
from . import fts5
from .answer import Answer
from .snapshot import Snapshot

# How many messages of one part are taken, the newest.
TAKEN = 1000
# How many are looked up at most to find enough that pass the filters.
LOOKED_UP = 5000
BATCH = 500

COUNT = """
    SELECT COUNT(*)
      FROM messages_fts
     WHERE messages_fts MATCH :expression
"""
HOLDERS = """
    SELECT rowid
      FROM messages_fts
     WHERE messages_fts MATCH :expression
     ORDER BY rowid DESC
     {page}
"""
FACTS = ("id", "session_id", "seq", "timestamp")
Held = dict[int, int]


class Partial(Answer):
    """The parts of one question on one snapshot of index and data."""

    def __init__(self, snapshot: Snapshot, parts: Sequence[Node], where: Filter, messages: MessageFilter) -> None:
        super().__init__(snapshot, Query("", any_of(parts)), where, messages)
        self.parts = parts
        self.filtered = where != Filter() or messages != MessageFilter()

    def gathered(self, limit: int) -> Candidates:
        """The best candidates; what the index has not read is read one by one."""
        total = self.snapshot.newest
        containing, complete, held = self._held(HOLDERS, {})
        rarities = rarities_of(containing, total)
        hits = self._looked_up(held, rarities, limit)
        if self.filtered and not complete and len(hits) < limit:
            hits = self._looked_up(self._held(self._passing, self.where.params)[-1], rarities, limit)
        return Candidates(best([*hits, *self._fresh()], rarities, limit), containing, total)

    @property
    def _passing(self) -> str:
        return f"""
            SELECT m.id
              FROM messages_fts
             CROSS JOIN messages m ON m.id = messages_fts.rowid
             CROSS JOIN sessions s ON s.id = m.session_id
             WHERE messages_fts MATCH :expression
               AND {self.where.sql}
             ORDER BY messages_fts.rowid DESC
             {{page}}
        """

    def _held(self, sql: str, params: Params) -> tuple[list[int], bool, Held]:
        """In how many messages each part is, whether all of them were taken, and which parts each holds."""
        found = [self._holders(sql, params, part) for part in self.parts]
        common = [number for number, ids in enumerate(found) if len(ids) == TAKEN]
        containing = [self._count(self.parts[at]) if at in common else len(ids) for at, ids in enumerate(found)]
        for number in common:
            found[number] += self._holders(sql, params, self._beside_rarer(number, containing))
        return containing, not common, _by_message(found)

    def _holders(self, sql: str, params: Params, node: Node | None) -> list[int]:
        if node is None:
            return []
        given = {**params, "expression": fts5.expression(node), "limit": TAKEN, "offset": 0}
        return [each for (each,) in self.tx.rows(sql, given) if each not in self.snapshot.stale]

    def _count(self, part: Node) -> int:
        found = self.tx.row(COUNT, {"expression": fts5.expression(part)})
        return int(found[0]) if found else 0

    def _beside_rarer(self, number: int, containing: Sequence[int]) -> Node | None:
        """A common part beside a rare one, or the rarest: those who hold both must not be missed."""
        rarest = min(containing[at] for at in range(len(self.parts)) if at != number) if len(self.parts) > 1 else 0
        rare = [at for at, count in enumerate(containing) if at != number and count <= max(TAKEN, rarest)]
        other = any_of([self.parts[at] for at in rare])
        return None if other is None else all_of([self.parts[number], other])

    def _looked_up(self, held: Held, rarities: Sequence[float], limit: int) -> list[Candidate]:
        """Candidates that pass the filters, until there are enough of people's."""
        found: list[Candidate] = []
        ids = islice(_by_worth(held, rarities), LOOKED_UP)
        while batch := list(islice(ids, BATCH)):
            found += self._passing_of(batch, held)
            if sum(not rank.automated(hit.source) for hit in found) >= limit:
                break
        return found

    def _passing_of(self, ids: Sequence[int], held: Held) -> Iterator[Candidate]:
        names, params = marks("candidate", ids)
        sql = f"""
            SELECT {rows.prefixed(FACTS, "m")}, s.source
              FROM messages m
              JOIN sessions s ON s.id = m.session_id
             WHERE m.id IN ({names})
               AND {self.where.sql}
        """
        for each, session_id, seq, timestamp, source in self.tx.rows(sql, {**self.where.params, **params}):
            yield Candidate(each, unescape(session_id), seq or 0, timestamp, unescape(source), held[each])

    def _fresh(self) -> Iterator[Candidate]:
        for row in self.snapshot.unread(self.where):
            message = rows.message(row[:-1])
            held = held_parts(message, self.parts)
            if held:
                yield candidate(message, unescape(row[-1]), held)


def _by_message(found: Sequence[Sequence[int]]) -> Held:
    """Which parts each message holds."""
    held: Held = defaultdict(int)
    for number, ids in enumerate(found):
        for each in set(ids):
            held[each] |= 1 << number
    return held


def _by_worth(held: Held, rarities: Sequence[float]) -> Iterator[int]:
    """Ids, those that hold most first, then the newest; sorted only as far as they are used."""
    alike: dict[int, list[int]] = defaultdict(list)
    for each, parts in held.items():
        alike[parts].append(each)
    for parts in sorted(alike, key=lambda parts: (-worth(parts, rarities), parts)):
        yield from sorted(alike[parts], reverse=True)
