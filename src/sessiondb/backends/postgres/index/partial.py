"""The first cut of a relaxed search, from the index: who holds which parts, rare ones first."""

from __future__ import annotations

from collections.abc import Sequence

from ....models import Filter, MessageFilter
from ....search.nodes import Leaf, Node, all_of, any_of
from ....search.query import Query
from ....search.relaxed import Candidate, Candidates, best, rarities_of
from ....sql.driver import Tx
from ....sql.escape import unescape
from . import tsquery
from .answer import Answer
from .glance import Glance

# How many messages of one part are taken, the newest.
TAKEN = 1000
BATCH = 5000


class Partial:
    """The parts of one question on one snapshot."""

    def __init__(self, tx: Tx, parts: Sequence[Node], where: Filter, messages: MessageFilter, known: Glance) -> None:
        self.tx, self.parts, self.known = tx, parts, known
        self.where, self.messages = where, messages
        self.answers = [*map(self._answer, parts)]

    def _answer(self, node: Node) -> Answer:
        return Answer(self.tx, Query("", node), node, self.where, self.messages, self.known)

    def gathered(self, limit: int) -> Candidates:
        total = self.known.newest if self.parts else 0
        containing = [answer.containing() for answer in self.answers]
        ids = {each for answer in self.answers for each in answer.newest_ids(TAKEN)}
        for number, count in enumerate(containing):
            if count > TAKEN:
                ids |= self._beside_rarer(number, containing)
        found = [hit for start in range(0, len(ids), BATCH) for hit in self._held(sorted(ids)[start : start + BATCH])]
        return Candidates(best(found, rarities_of(containing, total), limit), containing, total)

    def _beside_rarer(self, number: int, containing: Sequence[int]) -> set[int]:
        """Of a common part those beside a rare one, or the rarest: who holds both must not be missed."""
        others = [count for at, count in enumerate(containing) if at != number]
        rare = [at for at, count in enumerate(containing) if at != number and count <= max(TAKEN, min(others))]
        other = any_of([self.parts[at] for at in rare])
        both = None if other is None else all_of([self.parts[number], other])
        if both is None:
            return set()
        return set(self._answer(both).newest_ids(TAKEN))

    def _held(self, ids: Sequence[int]) -> list[Candidate]:
        """Which parts each message holds, all its vectors taken together."""
        leaves = list(dict.fromkeys(leaf for part in self.parts for leaf in tsquery.all_leaves(part)))
        names: dict[Leaf, str] = {leaf: f"part{number}" for number, leaf in enumerate(leaves)}
        bits = " + ".join(
            f"CASE WHEN {tsquery.condition(part, names)} THEN {1 << number} ELSE 0 END"
            for number, part in enumerate(self.parts)
        )
        sql = f"""
            SELECT m.id, m.session_id, m.seq, m.timestamp, s.source, h.held
              FROM (SELECT t.message_id, {bits} AS held
                      FROM search_tokens t
                     WHERE t.message_id = ANY(CAST(:ids AS BIGINT[]))
                     GROUP BY t.message_id) h
              JOIN messages m ON m.id = h.message_id
              JOIN sessions s ON s.id = m.session_id
             WHERE h.held > 0
        """
        texts = {name: tsquery.expression(leaf) for leaf, name in names.items()}
        return [
            Candidate(each, unescape(session_id), seq or 0, timestamp, unescape(source), int(held))
            for each, session_id, seq, timestamp, source, held in self.tx.rows(sql, {"ids": list(ids), **texts})
        ]
