"""The first cut of a relaxed search, from the stored words: who holds which parts, the newest of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ...models import Filter, MessageFilter
from ...search.match import holds
from ...search.nodes import Node, all_of, any_of
from ...search.query import Query
from ...search.relaxed import Candidate, Candidates, best, rarities_of
from ...sql.driver import Row, Tx
from ...sql.escape import unescape
from .answer import Answer, all_leaves

# How many messages of one part are taken.
TAKEN = 1000
FACTS = "m.id, m.session_id, m.seq, m.timestamp, s.source"


class Partial(Answer):
    """The parts of one question."""

    def __init__(self, tx: Tx, parts: Sequence[Node], where: Filter, messages: MessageFilter) -> None:
        super().__init__(tx, Query("", any_of(parts)), where, messages)
        self.parts = parts

    def gathered(self, limit: int) -> Candidates:
        found = [self.matching(part, FACTS, TAKEN) for part in self.parts]
        total = self.total()
        containing = [
            len(rows) if len(rows) < TAKEN else max(TAKEN, self._count(part))
            for part, rows in zip(self.parts, found, strict=True)
        ]
        for number, rows in enumerate(found):
            beside = self._beside_rarer(number, containing) if len(rows) == TAKEN else None
            if beside is not None:
                found[number] = rows + self.matching(beside, FACTS, TAKEN)
        if self.has_chunks():
            self._add_long(found)
        return Candidates(best(_candidates(found), rarities_of(containing, total), limit), containing, total)

    def _count(self, part: Node) -> int:
        rows = self.tx.row(*self.counting(part))
        return int(rows[0]) if rows else 0

    def _beside_rarer(self, number: int, containing: Sequence[int]) -> Node | None:
        """A common part beside a rarer one: those who hold both must not be missed."""
        others = [at for at in range(len(self.parts)) if at != number]
        rarest = min((containing[at] for at in others), default=0)
        rare = any_of([self.parts[at] for at in others if containing[at] <= max(TAKEN, rarest)])
        return None if rare is None else all_of([self.parts[number], rare])

    def _add_long(self, found: list[list[Row]]) -> None:
        among = {leaf: self.chunked(leaf) for part in self.parts for leaf in all_leaves(part)}
        for number, part in enumerate(self.parts):
            ids = sorted(set().union(*(among[leaf] for leaf in all_leaves(part))))
            held = [each for each in ids if holds(part, lambda leaf, each=each: each in among[leaf])]  # type: ignore[misc]
            found[number] = found[number] + self.passing(held, FACTS)


def _candidates(found: Sequence[Sequence[Row]]) -> list[Candidate]:
    held: dict[int, int] = defaultdict(int)
    facts: dict[int, Row] = {}
    for number, rows in enumerate(found):
        for row in rows:
            facts[row[0]] = row
            held[row[0]] |= 1 << number
    return [
        Candidate(each, unescape(session_id), seq or 0, timestamp, unescape(source), held[each])
        for each, session_id, seq, timestamp, source in facts.values()
    ]
