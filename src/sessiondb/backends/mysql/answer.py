"""One query on the words stored beside the messages.

A common word is looked for among the newest messages until there are enough: FULLTEXT finds all messages of a word
before it can show the newest, and takes long to do so. A rare one is asked of the index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...models import Filter, Match, Matches, MessageFilter, MessageRow, Page, SearchOrder
from ...search import rank
from ...search.match import holds, matches
from ...search.nodes import And, Leaf, Node, Not, Or, Phrase, leaves
from ...search.query import Query
from ...search.scan import LOOKED_AT, NOT_ALL_LOOKED_AT, kept
from ...search.text import words
from ...sql import rows
from ...sql.driver import Row, Tx
from ...sql.filters import marks, messages_where, sessions_where
from . import boolean
from .encoding import is_cut

# Among so many of the newest messages a word's share is looked up; the index is asked only for rarer words.
SAMPLE = 2000
ENOUGH = 20
# Among so many it is seen whether a query has many answers.
GLANCE = 500
BATCH = 1000
# So many messages are walked in the time in which the index hands out one.
WALKED = 8

HAS_CHUNKS = """
    SELECT EXISTS (SELECT 1 FROM search_chunks)
"""
OLDEST_OF_SAMPLE = """
    SELECT message_id
      FROM search_words
     ORDER BY message_id DESC
     LIMIT 1 OFFSET :skipped
"""
NEWEST = """
    SELECT COALESCE(MAX(message_id), 0)
      FROM search_words
"""


HIT = "m.id, s.source, m.timestamp"


class Sample(NamedTuple):
    """Of the newest messages: how many there are, match, would be handed out by the index, and have each leaf."""

    size: int
    matching: int
    looked_up: int
    leaves: tuple[int, ...]


class Hit(NamedTuple):
    id: int
    automated: bool
    timestamp: float
    # The length of the message and how often it has each leaf, where that is known already.
    counts: Row = ()
    worth: float = 0.0


class Answer:
    def __init__(self, tx: Tx, query: Query, where: Filter, messages: MessageFilter) -> None:
        assert query.node is not None
        self.tx, self.query, self.node = tx, query, query.node
        self.leaves = tuple(leaves(query.node))
        self.where = sessions_where(where)
        messages_where(self.where, messages)

    def found(self, page: Page, order: SearchOrder, now: float) -> Matches:
        size = kept(page, order)
        if self.query.looks_at_rows and size is not None:
            size = max(size, LOOKED_AT)
        hits = self._whole(order, size)
        notices = self.query.notices
        if self.query.looks_at_rows and len(hits) == size:
            notices = (*notices, NOT_ALL_LOOKED_AT)
        total = self._estimated(hits, size)
        long_hits = self._long() if self.has_chunks() else []
        candidates = hits + long_hits
        hits = self._checked(candidates)
        total += len(long_hits) - (len(candidates) - len(hits))
        if order == "relevance":
            complete = size is None or len(hits) < size
            rarities = self._rarities(len(hits) if complete and len(self.leaves) == 1 else None)
            hits = self._weighed(hits, rarities, long=bool(long_hits))
        ordered = _ordered(hits, order, now)
        end = None if page.limit is None else page.offset + page.limit
        shown = self._page(ordered[page.offset : end], now)
        return Matches(shown, total, notices=notices)

    # --- who matches ---

    def _whole(self, order: SearchOrder, size: int | None) -> list[Hit]:
        """Messages whose words are in one row."""
        oldest = order == "oldest"
        first = None if size is None else self._oldest_of(GLANCE)
        if size is not None and first is not None:
            sample = self._sampled(first)
            share, looked_up = (max(each, 0.1) / GLANCE for each in (sample.matching, sample.looked_up))
            newest = self._newest()
            if size / share < WALKED * looked_up * newest:
                # So many messages from the end hold enough, if the sample does not deceive.
                reach = int(3 * size / share) + GLANCE
                hits = _hits(self._walked(size, 0 if oldest else newest - reach, reach if oldest else newest, oldest))
                if len(hits) == size:
                    return hits
        return _hits(self.matching(self.node, HIT, size, oldest=oldest))

    def _walked(self, size: int, low: int, high: int, oldest: bool) -> list[Row]:
        """The first matches of a stretch, its messages read one after the other."""
        needles = boolean.Needles()
        return self.tx.rows(
            f"""
            SELECT STRAIGHT_JOIN {HIT}, w.words, {", ".join(self._times(needles))}
              FROM search_words w
              JOIN messages m ON m.id = w.message_id
              JOIN sessions s ON s.id = m.session_id
             WHERE w.message_id > :from_id
               AND w.message_id <= :to_id
               AND {needles.condition(self.node)}
               AND {self.where.sql}
             ORDER BY w.message_id {"ASC" if oldest else "DESC"}
             {{page}}
            """,
            self.where.params | needles.params | {"from_id": low, "to_id": high, "limit": size, "offset": 0},
        )

    def matching(self, node: Node, columns: str, size: int | None, *, oldest: bool = False) -> list[Row]:
        needles = boolean.Needles()
        return self.tx.rows(
            f"""
            SELECT {columns}
              FROM search_words w
              JOIN messages m ON m.id = w.message_id
              JOIN sessions s ON s.id = m.session_id
             WHERE MATCH (w.body, w.extra) AGAINST (:expression IN BOOLEAN MODE)
               AND {needles.decisive(node)}
               AND {self.where.sql}
             ORDER BY m.id {"ASC" if oldest else "DESC"}
             {{page}}
            """,
            self.where.params
            | needles.params
            | {"expression": boolean.expression(node), "limit": -1 if size is None else size, "offset": 0},
        )

    def has_chunks(self) -> bool:
        found = self.tx.row(HAS_CHUNKS)
        return bool(found and found[0])

    def _long(self) -> list[Hit]:
        """Messages in pieces: what each word is in, then the truth of the query."""
        among = {leaf: self.chunked(leaf) for leaf in all_leaves(self.node)}
        candidates = sorted(set().union(*among.values()))
        chosen = [each for each in candidates if holds(self.node, lambda leaf, each=each: each in among[leaf])]  # type: ignore[misc]
        return _hits(self.passing(chosen, HIT))

    def passing(self, ids: Sequence[int], columns: str) -> list[Row]:
        """Those of the messages that pass the filters."""
        found: list[Row] = []
        for start in range(0, len(ids), BATCH):
            names, params = marks("chosen", ids[start : start + BATCH])
            found += self.tx.rows(
                f"""
                SELECT {columns}
                  FROM messages m
                  JOIN sessions s ON s.id = m.session_id
                 WHERE m.id IN ({names})
                   AND {self.where.sql}
                """,
                self.where.params | params,
            )
        return found

    def chunked(self, leaf: Leaf) -> set[int]:
        """The long messages that hold the leaf."""
        needles = boolean.Needles()
        found = self.tx.rows(
            f"""
            SELECT DISTINCT w.message_id
              FROM search_chunks w
             WHERE MATCH (w.body, w.extra) AGAINST (:expression IN BOOLEAN MODE)
               AND {needles.decisive(leaf)}
            """,
            {"expression": boolean.expression(leaf), **needles.params},
        )
        return {row[0] for row in found}

    def _checked(self, hits: list[Hit]) -> list[Hit]:
        """What neither index nor condition can tell, asked of the messages themselves."""
        cut = any(leaf.prefix and is_cut(_last(leaf)) for leaf in all_leaves(self.node))
        if not cut and not self.query.looks_at_rows:
            return hits
        kept = {
            row["id"]
            for row in self._messages(hits)
            if self.query.admits(row) and (not cut or matches(self.node, *words(row)))
        }
        return [hit for hit in hits if hit.id in kept]

    # --- what they are worth ---

    def _weighed(self, hits: list[Hit], rarities: list[float], *, long: bool) -> list[Hit]:
        unknown = [hit.id for hit in hits if not hit.counts]
        counts: dict[int, Row] = {}
        for start in range(0, len(unknown), BATCH):
            ids = unknown[start : start + BATCH]
            for table in ("search_words", "search_chunks") if long else ("search_words",):
                counts |= {row[0]: row[1:] for row in self._counts(table, ids)}
        # Most messages are alike in length and counts.
        known: dict[Row, float] = {}
        weighed = []
        for each, automated, moment, counted, _ in hits:
            found = counted or counts.get(each, ())
            worth = known.get(found)
            if worth is None:
                worth = known[found] = _worth(found, rarities)
            weighed.append(Hit(each, automated, moment, found, worth))
        return weighed

    def _counts(self, table: str, ids: Sequence[int]) -> list[Row]:
        """Of each message its length and, leaf by leaf, how often it is in the text and in the extra words."""
        needles = boolean.Needles()
        names, params = marks("id", ids)
        columns = self._times(needles)
        if table == "search_chunks":
            columns = [f"SUM({column})" for column in columns]
        return self.tx.rows(
            f"""
            SELECT w.message_id, w.words, {", ".join(columns)}
              FROM {table} w
             WHERE w.message_id IN ({names})
             {"GROUP BY w.message_id, w.words" if table == "search_chunks" else ""}
            """,
            needles.params | params,
        )

    def _times(self, needles: boolean.Needles) -> list[str]:
        return [needles.times(leaf, column) for leaf in self.leaves for column in ("body", "extra")]

    def _rarities(self, counted: int | None) -> list[float]:
        """`counted`: one word, and all its messages are here; there is nothing to look up."""
        oldest = self._oldest_of(SAMPLE)
        if oldest is None:
            sample = self._sampled(0)
            return [rank.rarity(times, sample.size) for times in sample.leaves]
        total = self._newest()
        if counted is not None:
            return [rank.rarity(counted, total)]
        shares = zip(self.leaves, self._sampled(oldest).leaves, strict=True)
        return [rank.rarity(self._containing(leaf, times, total), total) for leaf, times in shares]

    def _newest(self) -> int:
        found = self.tx.row(NEWEST)
        return int(found[0]) if found else 0

    def _oldest_of(self, size: int) -> int | None:
        """Where the newest so many messages begin; None where there are fewer."""
        found = self.tx.row(OLDEST_OF_SAMPLE, {"skipped": size - 1})
        return int(found[0]) if found else None

    def _sampled(self, oldest: int) -> Sample:
        needles = boolean.Needles()
        asked = [self.node, boolean.looked_up(self.node), *self.leaves]
        different = list(dict.fromkeys(asked))
        columns = ", ".join(f"SUM({needles.condition(each)})" for each in different)
        counted = self.tx.row(
            f"SELECT COUNT(*), {columns} FROM search_words w WHERE w.message_id >= :oldest",
            needles.params | {"oldest": oldest},
        )
        size, *having = (int(each or 0) for each in counted or (0,) * (len(different) + 1))
        matching, looked_up, *times = (having[different.index(each)] for each in asked)
        return Sample(size, matching, looked_up, tuple(times))

    def _containing(self, leaf: Leaf, seen: int, total: int) -> int:
        """In how many messages a word is, about."""
        if seen >= ENOUGH:
            return int(seen * total / SAMPLE)
        found = self.tx.row(*self.counting(leaf))
        return int(found[0]) if found else 0

    def counting(self, node: Node) -> tuple[str, dict[str, object]]:
        needles = boolean.Needles()
        sql = f"""
            SELECT COUNT(*)
              FROM search_words w
             WHERE MATCH (w.body, w.extra) AGAINST (:expression IN BOOLEAN MODE)
               AND {needles.decisive(node)}
        """
        return sql, {"expression": boolean.expression(node), **needles.params}

    def total(self) -> int:
        """How many messages there are, about."""
        few = self._oldest_of(SAMPLE) is None
        found = self.tx.row("SELECT COUNT(*) FROM search_words" if few else NEWEST)
        return int(found[0]) if found else 0

    # --- rows ---

    def _estimated(self, hits: list[Hit], size: int | None) -> int:
        """How many match in all: exactly when they were all seen, else from their density."""
        if size is None or len(hits) < size or not hits:
            return len(hits)
        span = abs(hits[0].id - hits[-1].id) + 1
        return max(len(hits), int(len(hits) * self._newest() / span))

    def _page(self, hits: list[Hit], now: float) -> list[Match]:
        messages = {message["id"]: message for message in self._messages(hits)}
        return [Match(messages[hit.id], _score(hit, now)) for hit in hits if hit.id in messages]

    def _messages(self, hits: list[Hit]) -> Iterator[MessageRow]:
        return rows.with_ids(self.tx, [hit.id for hit in hits])


def _hits(found: Sequence[Row]) -> list[Hit]:
    return [Hit(each, rank.automated(source), moment, tuple(counts)) for each, source, moment, *counts in found]


def all_leaves(node: Node) -> set[Leaf]:
    """Those that must be absent, too."""
    match node:
        case And(parts) | Or(parts):
            return set().union(*map(all_leaves, parts))
        case Not(part):
            return all_leaves(part)
        case _:
            return {node}


def _last(leaf: Leaf) -> str:
    return leaf.tokens[-1] if isinstance(leaf, Phrase) else leaf.token


def _worth(counts: Row, rarities: Sequence[float]) -> float:
    if not counts:
        return 0.0
    length, *times = counts
    found = (body + rank.EXTRA_WEIGHT * extra for body, extra in zip(times[::2], times[1::2], strict=True))
    return sum(rank.frequency(each, length) * rarity for each, rarity in zip(found, rarities, strict=True))


def _score(hit: Hit, now: float) -> float:
    return hit.worth * rank.recency(now - hit.timestamp)


def _ordered(hits: list[Hit], order: SearchOrder, now: float) -> list[Hit]:
    if order == "relevance":
        return sorted(hits, key=lambda hit: (hit.automated, -_score(hit, now), -hit.id))
    return sorted(hits, key=lambda hit: hit.id, reverse=order == "newest")
