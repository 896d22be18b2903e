"""One query on one snapshot of index and data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....models import Filter, Match, Matches, MessageFilter, MessageRow, Page, SearchOrder
from ....search import rank
from ....search.nodes import And, Leaf, Phrase, Term
from ....search.query import Query
from ....search.scan import LOOKED_AT, NOT_ALL_LOOKED_AT, WEIGHED, Weighing, kept
from ....sql import rows
from ....sql.driver import Row
from ....sql.escape import unescape
from ....sql.filters import marks, messages_where, sessions_where
from . import fts5
from .snapshot import Snapshot

# How many rows of a word are counted before the rest is estimated from their density.
COUNTED = 4000
# A total that is not counted is estimated from at least so many.
ESTIMATED_FROM = 200
# What a prefix is taken to be worth: counting all words that start so would cost more than the search.
PREFIX_SHARE = 0.01
# SQLite takes no more parameters.
ID_BATCH = 500

COUNT_WORD = """
    SELECT COUNT(*), MIN(id), MAX(id)
      FROM (SELECT rowid AS id
              FROM messages_fts
             WHERE messages_fts MATCH :expression
             ORDER BY rowid DESC
             LIMIT :limit)
"""


class Hit(NamedTuple):
    id: int
    automated: bool
    score: float


class Answer:
    def __init__(self, snapshot: Snapshot, query: Query, where: Filter, messages: MessageFilter) -> None:
        assert query.node is not None
        self.snapshot, self.tx = snapshot, snapshot.tx
        self.query, self.node = query, query.node
        self.leaves = fts5.scored_leaves(query.node)
        self.counts: dict[Term, int] = {}
        self.looked_at, self.cut_short = 0, False
        self.by_session = where != Filter()
        self.where = sessions_where(where)
        messages_where(self.where, messages)
        self.bounds = (0, snapshot.at.last_id) if where.ids is None else self._span(where.ids)

    def found(self, page: Page, order: SearchOrder, now: float) -> Matches:
        rarities = self._rarities()
        size = kept(page, order, least=ESTIMATED_FROM)
        fresh = list(self._unread(rarities, now))
        if order == "relevance":
            hits, total = self._people_first(rarities, size, now)
        else:
            expression = fts5.expression(self.node)
            hits = self._indexed(expression, False, rarities, size, now, oldest=order == "oldest")
            total = self._estimated(hits, size)
        ordered = _ordered([*hits, *fresh], order, size)
        end = None if page.limit is None else page.offset + page.limit
        shown = self._page(ordered[page.offset : end])
        notices = (*self.query.notices, *([NOT_ALL_LOOKED_AT] if self.cut_short else []))
        return Matches(shown, min(total, self._most()) + len(fresh), self.snapshot.lag, notices)

    def _span(self, sessions: Sequence[str]) -> tuple[int, int]:
        """Sessions are runs of ids: telling the index which saves it from walking all matches of a common word."""
        names, params = marks("within", sessions)
        found = self.tx.row(f"SELECT MIN(id), MAX(id) FROM messages WHERE session_id IN ({names or 'NULL'})", params)
        return (0, -1) if found is None or found[0] is None else (found[0], found[1])

    # --- what the index knows ---

    def _people_first(self, rarities: Sequence[float], size: int | None, now: float) -> tuple[list[Hit], int]:
        expression = fts5.expression(self.node)
        people = self._indexed(fts5.of_people(expression), False, rarities, size, now)
        left = None if size is None else size - len(people)
        any_machine = left != 0 and self._counted_to(1, Term(fts5.MACHINE)) > 0
        machines = self._indexed(fts5.of_machines(expression), True, rarities, left, now) if any_machine else []
        total = self._estimated(people, size) + self._estimated(machines, left)
        return people + machines, total

    def _rarities(self) -> list[float]:
        total = self.snapshot.newest
        return [0.0 if leaf is None else rank.rarity(self._containing(leaf), total) for leaf in self.leaves]

    def _containing(self, leaf: Leaf) -> int:
        """In how many messages a word is, about; a phrase is taken to be as rare as its rarest word."""
        if isinstance(leaf, Phrase):
            whole = leaf.tokens[:-1] if leaf.prefix else leaf.tokens
            return min(self._counted(Term(token)) for token in whole)
        return int(self.snapshot.newest * PREFIX_SHARE) if leaf.prefix else self._counted(leaf)

    def _counted(self, term: Term) -> int:
        if term not in self.counts:
            self.counts[term] = self._counted_to(COUNTED, term)
        return self.counts[term]

    def _counted_to(self, limit: int, term: Term) -> int:
        total = self.snapshot.newest
        found = self.tx.row(COUNT_WORD, {"expression": fts5.expression(term), "limit": limit})
        counted, oldest, newest = found or (0, 0, 0)
        return counted if counted < limit else min(total, int(counted * total / (newest - oldest + 1)))

    def _indexed(
        self,
        expression: str,
        automated: bool,
        rarities: Sequence[float],
        size: int | None,
        now: float,
        *,
        oldest: bool = False,
    ) -> list[Hit]:
        """The newest (or oldest) matches, at most `size`; in batches, for some may not count after all."""
        low, high = self.bounds
        hits: list[Hit] = []
        while size is None or len(hits) < size:
            wanted = -1 if size is None else size - len(hits)
            found = self._matching(expression, rarities, (low, high), wanted, oldest)
            hits += [
                Hit(each, automated, worth * rank.recency(now - moment))
                for each, worth, moment in self._that_count(found)
            ]
            if len(found) < wanted or wanted < 0 or self._looked_at_enough():
                break
            low, high = (found[-1][0] + 1, high) if oldest else (low, found[-1][0] - 1)
        return hits

    def _matching(
        self, expression: str, rarities: Sequence[float], bounds: tuple[int, int], limit: int, oldest: bool
    ) -> list[Row]:
        # CROSS: the index leads, or SQLite may decide to walk all messages.
        sessions = "CROSS JOIN sessions s ON s.id = m.session_id" if self.by_session else ""
        sql = f"""
            SELECT m.id, relevance(messages_fts{fts5.arguments(rarities)}), m.timestamp
              FROM messages_fts
             CROSS JOIN messages m ON m.id = messages_fts.rowid
             {sessions}
             WHERE messages_fts MATCH :expression
               AND messages_fts.rowid BETWEEN :low AND :high
               AND {self.where.sql}
             ORDER BY messages_fts.rowid {"ASC" if oldest else "DESC"}
             {{page}}
        """
        params = {"expression": expression, "low": bounds[0], "high": bounds[1], "limit": limit, "offset": 0}
        return self.tx.rows(sql, {**self.where.params, **params})

    def _that_count(self, found: list[Row]) -> list[Row]:
        stale = self.snapshot.stale
        if stale:
            found = [row for row in found if row[0] not in stale]
        if self.query.looks_at_rows:
            self.looked_at += len(found)
            admitted = {row["id"] for row in self._messages([row[0] for row in found]) if self.query.admits(row)}
            found = [row for row in found if row[0] in admitted]
        return found

    def _looked_at_enough(self) -> bool:
        self.cut_short = self.cut_short or self.looked_at >= LOOKED_AT
        return self.cut_short

    def _most(self) -> int:
        """No more match than have the rarest of the words that all must have."""
        parts = self.node.parts if isinstance(self.node, And) else (self.node,)
        counts = [self._containing(part) for part in parts if isinstance(part, Term) and not part.prefix]
        return min(counts, default=self.snapshot.newest)

    def _estimated(self, hits: Sequence[Hit], size: int | None) -> int:
        """How many match in all: exactly when they were all seen, else from their density."""
        if not hits or size is None or len(hits) < size:
            return len(hits)
        low, high = self.bounds
        span = abs(hits[0].id - hits[-1].id) + 1
        return max(len(hits), int(len(hits) * (high - low + 1) / span))

    # --- what it does not know yet ---

    def _unread(self, rarities: Sequence[float], now: float) -> Iterator[Hit]:
        weighing = Weighing(self.query, self.leaves)
        for row in self.snapshot.unread(self.where):
            message = rows.message(row[:-1])
            frequencies = weighing.matched(message)
            if frequencies is not None:
                age = now - (message["timestamp"] or 0.0)
                yield Hit(row[0], rank.automated(unescape(row[-1])), rank.score(frequencies, rarities, age))

    # --- rows ---

    def _page(self, hits: Sequence[Hit]) -> list[Match]:
        messages = {message["id"]: message for message in self._messages([hit.id for hit in hits])}
        return [Match(messages[hit.id], hit.score) for hit in hits if hit.id in messages]

    def _messages(self, ids: Sequence[int]) -> Iterator[MessageRow]:
        for start in range(0, len(ids), ID_BATCH):
            names, params = marks("id", ids[start : start + ID_BATCH])
            yield from rows.messages(
                self.tx.rows(f"SELECT {rows.MESSAGE_LIST} FROM messages WHERE id IN ({names})", params)
            )


def _ordered(hits: list[Hit], order: SearchOrder, size: int | None) -> list[Hit]:
    """As `scan` orders them: relevance decides among the first so many, the rest follow by age."""
    if order != "relevance":
        return sorted(hits, key=lambda hit: hit.id, reverse=order == "newest")
    if size is None or len(hits) > min(size, WEIGHED):
        hits = sorted(hits, key=lambda hit: (hit.automated, -hit.id))[:size]
    best = sorted(hits[:WEIGHED], key=lambda hit: (hit.automated, -hit.score, -hit.id))
    return best + hits[WEIGHED:]
