"""The first cut of a relaxed search, from the index: who holds which parts, rare ones first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

import apsw

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

# How many messages of one part are taken, the newest.
TAKEN = 5000
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

    def __init__(
        self, connection: apsw.Connection, parts: Sequence[Node], where: Filter, messages: MessageFilter
    ) -> None:
        super().__init__(connection, Query("", any_of(parts)), where, messages)
        self.parts = parts
        self.filtered = where != Filter() or messages != MessageFilter()

    def gathered(self, last_id: int, limit: int) -> Candidates:
        """The best candidates; rows after `last_id` are not in the index and are read one by one."""
        self.tx.connection.execute("BEGIN")
        try:
            containing, complete, held = self._held(HOLDERS, {})
            rarities = rarities_of(containing, last_id)
            hits = self._looked_up(held, rarities, limit)
            if self.filtered and not complete and len(hits) < limit:
                hits = self._looked_up(self._held(self._passing, self.where.params)[-1], rarities, limit)
            return Candidates(best([*hits, *self._fresh(last_id)], rarities, limit), containing, last_id)
        finally:
            self.tx.connection.execute("ROLLBACK")

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
        held: Held = defaultdict(int)
        containing = []
        complete = True
        for number, part in enumerate(self.parts):
            found = self._holders(sql, params, part)
            containing.append(len(found))
            if len(found) == TAKEN:
                complete = False
                containing[-1] = self._count(part)
                found += self._holders(sql, params, all_of([part, *self._any_but(number)]))
            for each in set(found):
                held[each] |= 1 << number
        return containing, complete, held

    def _holders(self, sql: str, params: Params, node: Node | None) -> list[int]:
        if node is None:
            return []
        given = {**params, "expression": fts5.expression(node), "limit": TAKEN, "offset": 0}
        return [each for (each,) in self.tx.rows(sql, given)]

    def _count(self, part: Node) -> int:
        found = self.tx.row(COUNT, {"expression": fts5.expression(part)})
        return int(found[0]) if found else 0

    def _any_but(self, number: int) -> list[Node]:
        """Of a common part, those who hold another one too must not be missed."""
        other = any_of([part for at, part in enumerate(self.parts) if at != number])
        return [] if other is None else [other]

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

    def _fresh(self, last_id: int) -> Iterator[Candidate]:
        after = last_id
        while found := self._after(after):
            for row in found:
                message = rows.message(row[:-1])
                held = held_parts(message, self.parts)
                if held:
                    yield candidate(message, unescape(row[-1]), held)
            after = found[-1][0]


def _by_worth(held: Held, rarities: Sequence[float]) -> Iterator[int]:
    """Ids, those that hold most first, then the newest; sorted only as far as they are used."""
    alike: dict[int, list[int]] = defaultdict(list)
    for each, parts in held.items():
        alike[parts].append(each)
    for parts in sorted(alike, key=lambda parts: (-worth(parts, rarities), parts)):
        yield from sorted(alike[parts], reverse=True)
