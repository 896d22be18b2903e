"""One query on one snapshot of index and data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from ....models import Filter, Match, Matches, MessageFilter, Page, SearchOrder
from ....search import rank
from ....search.nodes import And, Leaf, Phrase, Term
from ....search.query import Query
from ....search.scan import LOOKED_AT, NOT_ALL_LOOKED_AT, NOT_ALL_READ, WEIGHED, Weighing, kept
from ....sql import rows
from ....sql.driver import Row
from ....sql.escape import unescape
from ....sql.filters import marks, messages_where, sessions_where
from ....values import NamedTuple
from . import fts5
from .beginnings import Beginnings
from .few import read as few_rows
from .snapshot import Snapshot

# How many rows of a word are counted before the rest is estimated from their density.
COUNTED = 1000
# A total that is not counted is estimated from at least so many.
ESTIMATED_FROM = 200
# What a prefix is taken to be worth: counting all words that start so would cost more than the search.
PREFIX_SHARE = 0.01
_EVERYTHING, _VISIBLE = Filter(), MessageFilter()

# So many times as many messages as are wanted are walked at most.
WALKED_SHARE = 3

# Of so many messages or more, this part is asked first how often words meet.
PROBED_FROM = 50_000
PROBED_SHARE = 16

COUNT_WORD = """
    SELECT COUNT(*), MIN(id), MAX(id)
      FROM (SELECT rowid AS id
              FROM messages_fts
             WHERE messages_fts MATCH :expression
             ORDER BY rowid DESC
             LIMIT :limit)
"""


Bounds = tuple[int, int]


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
        self.beginnings = Beginnings(self.tx, snapshot.newest)
        # What the index is asked for; where that is less than the query, whoever has it is read.
        self.asked = query.node
        self.counts: dict[Leaf | None, int] = {}
        # The rarity of a single word weighs all its messages alike: it is found out when there are any.
        self.alone = len(self.leaves) == 1
        self.looked_at, self.cut_short = 0, False
        self.filter, self.messages = where, messages
        self.by_session = where != _EVERYTHING
        self.unfiltered = not self.by_session and messages == _VISIBLE
        self.where = sessions_where(where)
        messages_where(self.where, messages)
        self.bounds = (0, snapshot.at.last_id) if where.ids is None else self._span(where.ids)

    def found(self, page: Page, order: SearchOrder, now: float) -> Matches:
        rarities = [1.0] if self.alone else self._rarities()
        size = kept(page, order, least=ESTIMATED_FROM)
        few = few_rows(self.snapshot, self.filter, self.messages, self.where)
        if few is not None:
            among = list(self._weighed(few, rarities, now))
            return self._told(among, len(among), page, order, size)
        walked = self._walked(size, rarities, now) if order != "oldest" else None
        if walked is not None:
            return self._told(walked, self._estimated(walked, size), page, order, size)
        fresh = list(self._unread(rarities, now)) if self.snapshot.lag else []
        if size is not None:
            self.asked = self.beginnings.spared(self.node)
        if order == "relevance":
            hits, total = self._people_first(rarities, size, now)
        else:
            expression = fts5.expression(self.asked)
            hits = self._indexed(expression, False, rarities, size, now, oldest=order == "oldest")
            total = self._estimated(hits, size)
        if not hits and not fresh:
            return self._told([], 0, page, order, size)
        if self.alone and (size is None or len(hits) < size):
            self.counts[self.leaves[0]] = len(hits) + len(fresh)
        if total > len(hits):
            total = max(len(hits), min(total, self._most()))
        return self._told([*hits, *fresh], total + len(fresh), page, order, size)

    def _told(self, hits: list[Hit], total: int, page: Page, order: SearchOrder, size: int | None) -> Matches:
        end = None if page.limit is None else page.offset + page.limit
        shown = self._page(_ordered(hits, order, size)[page.offset : end])
        cut = [NOT_ALL_LOOKED_AT if self.query.looks_at_rows else NOT_ALL_READ] if self.cut_short else []
        notices = (*self.query.notices, *cut)
        return Matches(shown, total, self.snapshot.lag, notices)

    def _span(self, sessions: Sequence[str]) -> Bounds:
        """Sessions are runs of ids: telling the index which saves it from walking all matches of a common word."""
        names, params = marks("within", sessions)
        found = self.tx.row(f"SELECT MIN(id), MAX(id) FROM messages WHERE session_id IN ({names or 'NULL'})", params)
        return (0, -1) if found is None or found[0] is None else (found[0], found[1])

    # --- what the index knows ---

    def _people_first(self, rarities: Sequence[float], size: int | None, now: float) -> tuple[list[Hit], int]:
        expression = fts5.expression(self.asked)
        if not self.snapshot.any_machine:
            people = self._indexed(expression, False, rarities, size, now)
            return people, self._estimated(people, size)
        people = self._indexed(fts5.of_people(expression), False, rarities, size, now)
        left = None if size is None else size - len(people)
        machines = self._indexed(fts5.of_machines(expression), True, rarities, left, now) if left != 0 else []
        total = self._estimated(people, size) + self._estimated(machines, left)
        return people + machines, total

    def _rarities(self) -> list[float]:
        total = self.snapshot.newest
        return [0.0 if leaf is None else rank.rarity(self._containing(leaf), total) for leaf in self.leaves]

    def _containing(self, leaf: Leaf) -> int:
        """In how many messages a word is, about; a phrase is taken to be as rare as its rarest word."""
        if leaf in self.counts:
            return self.counts[leaf]
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
            found = self._next(expression, rarities, (low, high), wanted, now, oldest)
            hits += self._hits(found, automated, rarities, now)
            if len(found) < wanted or wanted < 0 or self._looked_at_enough():
                break
            low, high = (found[-1][0] + 1, high) if oldest else (low, found[-1][0] - 1)
        return hits

    def _hits(self, found: list[Row], automated: bool, rarities: Sequence[float], now: float) -> list[Hit]:
        if self.asked == self.node:
            return [Hit(each, automated, score) for each, score in self._that_count(found)]
        self.looked_at += len(found)
        ids = [each for each, _ in found if each not in self.snapshot.stale]
        weighed = {hit.id: hit for hit in self._weighed(self.snapshot.among(ids, self.where), rarities, now)}
        return [weighed[each] for each in ids if each in weighed]

    def _next(
        self, expression: str, rarities: Sequence[float], bounds: Bounds, limit: int, now: float, oldest: bool
    ) -> list[Row]:
        def matching(bounds: Bounds, limit: int, oldest: bool) -> list[Row]:
            return self._matching(expression, rarities, bounds, limit, now, oldest)

        if oldest or limit < 0 or isinstance(self.asked, Term):
            return matching(bounds, limit, oldest)
        return newest(matching, bounds, limit)

    def _matching(
        self, expression: str, rarities: Sequence[float], bounds: Bounds, limit: int, now: float, oldest: bool
    ) -> list[Row]:
        # CROSS: the index leads, or SQLite may decide to walk all messages.
        sessions = "CROSS JOIN sessions s ON s.id = m.session_id" if self.by_session else ""
        if self.asked != self.node:
            # They are weighed when they are read.
            rarities = [0.0] * len(fts5.scored_leaves(self.asked))
        weights, given = marks("rarity", rarities)
        sql = f"""
            SELECT m.id, relevance(messages_fts, :now - m.timestamp, {weights})
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
        return self.tx.rows(sql, {**self.where.params, **given, **params, "now": now})

    def _that_count(self, found: list[Row]) -> list[Row]:
        stale = self.snapshot.stale
        if stale:
            found = [row for row in found if row[0] not in stale]
        if self.query.looks_at_rows:
            self.looked_at += len(found)
            admitted = {
                row["id"] for row in rows.with_ids(self.tx, [row[0] for row in found]) if self.query.admits(row)
            }
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

    # --- what it does not know yet, or is slow to tell ---

    def _unread(self, rarities: Sequence[float], now: float) -> Iterator[Hit]:
        return self._weighed(self.snapshot.unread(self.where), rarities, now)

    def _weighed(self, found: Iterable[Row], rarities: Sequence[float], now: float) -> Iterator[Hit]:
        weighing = Weighing(self.query, self.leaves)
        for row in found:
            message = rows.message(row[:-1])
            frequencies = weighing.matched(message)
            if frequencies is not None:
                age = now - (message["timestamp"] or 0.0)
                yield Hit(row[0], rank.automated(unescape(row[-1])), rank.score(frequencies, rarities, age))

    def _walked(self, size: int | None, rarities: Sequence[float], now: float) -> list[Hit] | None:
        """The newest matches of a beginning that most messages have; None when it is not one.

        The index reads all of its messages before it tells the first; those that count here are among the newest.
        """
        if size is None or not self.unfiltered or not self.beginnings.is_in_most(self.node):
            return None
        newest = islice(self.snapshot.newest_first(self.where), WALKED_SHARE * size)
        people = islice((hit for hit in self._weighed(newest, rarities, now) if not hit.automated), size)
        found = list(people)
        return found if len(found) == size else None

    # --- rows ---

    def _page(self, hits: Sequence[Hit]) -> list[Match]:
        messages = {message["id"]: message for message in rows.with_ids(self.tx, [hit.id for hit in hits])}
        share = self._rarities()[0] if self.alone else 1.0
        return [Match(messages[hit.id], hit.score * share) for hit in hits if hit.id in messages]


def newest(matching: Callable[[Bounds, int, bool], list[Row]], bounds: Bounds, limit: int) -> list[Row]:
    """The newest matches. Those of words that seldom meet are collected upwards: downwards FTS5 skips nothing."""
    low, high = bounds
    if high - low < PROBED_FROM:
        return matching(bounds, limit, False)
    probed = high - (high - low) // PROBED_SHARE
    found = matching((probed, high), limit, False)
    left = limit - len(found)
    if left > 0 and len(found) * PROBED_SHARE < limit:
        older = matching((low, probed - 1), limit, True)
        if len(older) < limit:
            return found + older[::-1][:left]
    return found + matching((low, probed - 1), left, False) if left else found


def _ordered(hits: list[Hit], order: SearchOrder, size: int | None) -> list[Hit]:
    """As `scan` orders them: relevance decides among the first so many, the rest follow by age."""
    if order != "relevance":
        return sorted(hits, key=lambda hit: hit.id, reverse=order == "newest")
    if size is None or len(hits) > min(size, WEIGHED):
        hits = sorted(hits, key=lambda hit: (hit.automated, -hit.id))[:size]
    best = sorted(hits[:WEIGHED], key=lambda hit: (hit.automated, -hit.score, -hit.id))
    return best + hits[WEIGHED:]
