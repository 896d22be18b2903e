"""One query on one snapshot.

A common word is looked for among the newest messages until there are enough; a rare one in the index first. Left to
itself, the server would walk all messages backwards for a rare word, for seconds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from ....models import Filter, Match, Matches, MessageFilter, MessageRow, Page, SearchOrder
from ....search import rank
from ....search.match import matches
from ....search.nodes import Leaf, Node, leaves
from ....search.query import Query
from ....search.scan import LOOKED_AT, NOT_ALL_LOOKED_AT, kept
from ....search.text import words
from ....sql import rows
from ....sql.driver import Row, Tx
from ....sql.filters import marks, messages_where, sessions_where
from . import tsquery
from .glance import COUNTED, Glance, containing

# How many of the newest messages tell how common a word is.
SAMPLE = 500
# In so many messages every word is counted.
SMALL = 5000
# A word that so many of them have is common.
COMMON = 0.05
# So many messages are walked in the time in which the index hands out one.
WALKED = 3
# ts_rank() of a word with n places of weight 1 is the sum of 1/k² for k up to n, over this.
_RANK_UNIT = 1.64493406685
_RANK_OF = list(accumulate((1 / (times * times) for times in range(1, 400)), initial=0.0))

_DIRECTION = {"relevance": "DESC", "newest": "DESC", "oldest": "ASC"}

BODY, EXTRA = "CAST(ARRAY[0, 0, 0, 1] AS REAL[])", "CAST(ARRAY[1, 0, 0, 0] AS REAL[])"
SPAN = """
    SELECT MIN(id), MAX(id)
      FROM messages
     WHERE session_id IN (%s)
"""


class Hit(NamedTuple):
    id: int
    automated: bool
    timestamp: float
    worth: float = 0.0


class Share(NamedTuple):
    """Of the newest messages, how many match, and how many the index would hand out to be looked at."""

    matching: float
    looked_up: float


class Stretch(NamedTuple):
    """Messages with ids above `low`, up to `high`; `walked`: one after the other, without the index."""

    low: int
    high: int
    walked: bool = False

    def end(self, size: int, *, first: bool) -> Stretch:
        """The first or last so many, to be walked."""
        if first:
            return Stretch(self.low, min(self.high, self.low + size), walked=True)
        return Stretch(max(self.low, self.high - size), self.high, walked=True)


class Answer:
    def __init__(self, tx: Tx, query: Query, node: Node, where: Filter, messages: MessageFilter, known: Glance) -> None:
        self.tx, self.query, self.node = tx, query, node
        self.leaves = list(leaves(node))
        self.words = list(dict.fromkeys(word for leaf in self.leaves for word in tsquery.words_of(leaf)))
        self.where = sessions_where(where)
        messages_where(self.where, messages)
        self.is_plain = (where, messages) == (Filter(), MessageFilter())
        self.expression = tsquery.expression(node)
        self._counts, self.newest = dict(known.counts), known.newest
        self.everywhere = Stretch(0, self.newest) if where.ids is None else self._stretch_of(where.ids)

    def found(self, page: Page, order: SearchOrder, now: float) -> Matches:
        size = kept(page, order)
        if self.query.looks_at_rows and size is not None:
            size = max(size, LOOKED_AT)
        whole, shares = self._sampled()
        hits = self._candidates(order, size, whole, self._rarities(shares))
        notices = self.query.notices
        if self.query.looks_at_rows and len(hits) == size:
            notices = (*notices, NOT_ALL_LOOKED_AT)
        if not tsquery.is_exact(self.node) or self.query.looks_at_rows:
            hits = self._confirmed(hits)
        total = _estimated(hits, size, self.newest)
        end = None if page.limit is None else page.offset + page.limit
        if order == "relevance":
            hits = [hit for *_, hit in sorted((hit.automated, -_score(hit, now), -hit.id, hit) for hit in hits)]
        return Matches(self._page(hits[page.offset : end], now), total, notices=notices)

    def _stretch_of(self, sessions: Sequence[str]) -> Stretch:
        """Sessions are runs of ids: telling which spares walking all matches of a common word."""
        names, params = marks("within", sessions)
        found = self.tx.row(SPAN % (names or "NULL"), params)
        low, high = found if found and found[0] is not None else (1, 0)
        return Stretch(low - 1, high)

    def newest_ids(self, size: int) -> list[int]:
        """The newest messages that match."""
        return [hit.id for hit in self._candidates("newest", size, self._sampled()[0], [0.0] * len(self.leaves))]

    def containing(self) -> int:
        """How many messages match, about, whatever the filters."""
        counted = self._counted(self.expression)
        if counted < COUNTED:
            return counted
        return max(counted, int(self._sampled()[0].matching * self.newest))

    # --- how common ---

    def _sampled(self) -> tuple[Share, list[float]]:
        """The share of the newest messages that match, and the share that has each word; never quite zero."""
        asked = [self.expression, tsquery.looked_up(self.node), *map(tsquery.expression, self.leaves)]
        seen, having = self._tally(asked)
        matching, looked_up, *words = [(each + 0.1) / max(SAMPLE, seen) for each in having]
        return Share(matching, looked_up), words

    def _tally(self, asked: Sequence[str]) -> tuple[int, list[int]]:
        """How many of the newest messages there are, and how many fulfil each of the queries."""
        # Of one word all queries are the same one.
        names = {text: f"asked{number}" for number, text in enumerate(dict.fromkeys(asked))}
        counts = ", ".join(f"COUNT(*) FILTER (WHERE tsv @@ CAST(:{name} AS TSQUERY))" for name in names.values())
        found = self.tx.row(
            f"""
            SELECT COUNT(*), {counts}
              FROM search_tokens
             WHERE message_id > :after
               AND message_id <= :last
               AND chunk = 0
            """,
            {"after": self.newest - SAMPLE, "last": self.newest, **{name: text for text, name in names.items()}},
        )
        seen, *having = found or (0, *[0] * len(names))
        counted = dict(zip(names, having, strict=True))
        return seen, [counted[text] for text in asked]

    def _rarities(self, shares: list[float]) -> list[float]:
        return [
            rank.rarity(self._containing(leaf, share), self.newest)
            for leaf, share in zip(self.leaves, shares, strict=True)
        ]

    def _containing(self, leaf: Leaf, share: float) -> int:
        if share >= COMMON and self.newest > SMALL:
            return int(share * self.newest)
        counted = self._counted(tsquery.expression(leaf))
        return counted if counted < COUNTED else max(counted, int(share * self.newest))

    def _counted(self, expression: str) -> int:
        """How many messages match, counted up to COUNTED; asked once."""
        if expression not in self._counts:
            found = self.tx.row(containing("leaf"), {"leaf": expression})
            self._counts[expression] = int(found[0]) if found else 0
        return self._counts[expression]

    # --- which ---

    def _candidates(self, order: SearchOrder, size: int | None, share: Share, rarities: list[float]) -> list[Hit]:
        everywhere = self.everywhere
        if size is None or size / share.matching > WALKED * share.looked_up * (everywhere.high - everywhere.low):
            return self._found(order, size, everywhere, rarities)
        # So many messages from the end hold enough, if the sample does not deceive; else all are asked.
        near = everywhere.end(int(3 * size / share.matching) + SAMPLE, first=order == "oldest")
        hits = self._found(order, size, near, rarities)
        return hits if len(hits) >= size else self._found(order, size, everywhere, rarities)

    def _found(self, order: SearchOrder, size: int | None, within: Stretch, rarities: list[float]) -> list[Hit]:
        """The first matches in this order."""
        hits = self._long(within, rarities)
        if size is not None and (within.walked or self.is_plain):
            hits += self._walked(order, size, within, rarities)
        else:
            hits += self._weighed(self._indexed(order, size, within), rarities)
        return sorted(hits, key=lambda hit: hit.id, reverse=order != "oldest")[:size]

    def _walked(self, order: SearchOrder, size: int, within: Stretch, rarities: list[float]) -> list[Hit]:
        """The first messages of one vector that match; where filters leave some out, it is walked on."""
        hits: list[Hit] = []
        while True:
            rows = self._walk(order, size, within)
            hits += self._weighed(rows, rarities)
            if len(rows) < size or len(hits) >= size:
                return hits
            last = rows[-1][0]
            within = within._replace(low=last) if order == "oldest" else within._replace(high=last - 1)

    def _walk(self, order: SearchOrder, size: int, within: Stretch) -> list[Row]:
        """Id, source, time, length and ranks; no time where a filter leaves the message out."""
        ranks, params = self._ranks("t.tsv")
        # IS TRUE keeps the server from using the index for what it reads anyway, + 0 from reading all for the few.
        truth, place = ("IS TRUE", "message_id") if within.walked else ("", "message_id + 0")
        return self.tx.rows(
            f"""
            WITH t AS MATERIALIZED (
                SELECT message_id, words, tsv
                  FROM search_tokens
                 WHERE chunks = 1
                   AND (tsv @@ CAST(:node AS TSQUERY)) {truth}
                   AND message_id > :from_id
                   AND message_id <= :to_id
                 ORDER BY {place} {_DIRECTION[order]}
                 {{page}})
            SELECT t.message_id, m.source, m.timestamp, t.words{ranks}
              FROM t
              LEFT JOIN LATERAL (
                SELECT s.source, m.timestamp
                  FROM messages m
                  JOIN sessions s ON s.id = m.session_id
                 WHERE m.id = t.message_id
                   AND {self.where.sql}) m ON TRUE
             ORDER BY t.message_id {_DIRECTION[order]}
            """,
            self._params(size, within) | params,
        )

    def _indexed(self, order: SearchOrder, size: int | None, within: Stretch) -> list[Row]:
        """The same by the index, filters first."""
        ranks, params = self._ranks("t.tsv")
        # + 0 keeps the server from walking all messages in order instead of looking up the few.
        return self.tx.rows(
            f"""
            WITH t AS MATERIALIZED (
                SELECT m.id, s.source, m.timestamp, t.words, t.tsv
                  FROM search_tokens t
                  JOIN messages m ON m.id = t.message_id
                  JOIN sessions s ON s.id = m.session_id
                 WHERE t.chunks = 1
                   AND t.tsv @@ CAST(:node AS TSQUERY)
                   AND t.message_id > :from_id
                   AND t.message_id <= :to_id
                   AND {self.where.sql}
                 ORDER BY t.message_id + 0 {_DIRECTION[order]}
                 {{page}})
            SELECT t.id, t.source, t.timestamp, t.words{ranks}
              FROM t
            """,
            self._params(size, within) | params,
        )

    def _params(self, size: int | None, within: Stretch) -> dict[str, Any]:
        return {
            **self.where.params,
            "node": self.expression,
            "from_id": within.low,
            "to_id": within.high,
            "limit": -1 if size is None else size,
            "offset": 0,
        }

    def _long(self, within: Stretch, rarities: list[float]) -> list[Hit]:
        """Messages of several vectors: AND, OR and NOT hold for a message, not for each of its vectors."""
        parts = tsquery.all_leaves(self.node)
        names = {leaf: f"part{number}" for number, leaf in enumerate(parts)}
        texts = {name: tsquery.expression(leaf) for leaf, name in names.items()}
        ranks, words = self._ranks("v.tsv")
        rows = self.tx.rows(
            f"""
            WITH t AS MATERIALIZED (
                SELECT t.message_id
                  FROM search_tokens t
                 WHERE t.chunks > 1
                   AND t.tsv @@ CAST(:touched AS TSQUERY)
                   AND t.message_id > :from_id
                   AND t.message_id <= :to_id
                 GROUP BY t.message_id
                HAVING {tsquery.condition(self.node, names)})
            SELECT m.id, s.source, m.timestamp, v.words{ranks}
              FROM t
              JOIN search_tokens v ON v.message_id = t.message_id
              JOIN messages m ON m.id = t.message_id
              JOIN sessions s ON s.id = m.session_id
             WHERE {self.where.sql}
            """,
            {
                **self.where.params,
                **texts,
                **words,
                "touched": " | ".join(texts.values()),
                "from_id": within.low,
                "to_id": within.high,
            },
        )
        return self._weighed(_joined(rows), rarities)

    def _confirmed(self, hits: list[Hit]) -> list[Hit]:
        exact = tsquery.is_exact(self.node)
        kept = {
            row["id"]
            for row in self._messages(hits)
            if self.query.admits(row) and (exact or matches(self.node, *words(row)))
        }
        return [hit for hit in hits if hit.id in kept]

    # --- how good ---

    def _ranks(self, vector: str) -> tuple[str, dict[str, str]]:
        """Columns that tell how often each word is in the text, and among the extra words."""
        names = {f"word{number}": word for number, word in enumerate(self.words)}
        columns = [f", ts_rank({part}, {vector}, CAST(:{name} AS TSQUERY))" for name in names for part in (BODY, EXTRA)]
        return "".join(columns), names

    def _weighed(self, rows: Sequence[Row], rarities: list[float]) -> list[Hit]:
        """Hits of those rows that no filter left out."""
        asked = [[self.words.index(word) for word in tsquery.words_of(leaf)] for leaf in self.leaves]
        # Most messages are alike in length and counts.
        known: dict[Row, float] = {}
        hits = []
        for row in rows:
            message_id, source, moment, length, *weights = row
            if moment is None:
                continue
            worth = known.get(row[3:])
            if worth is None:
                worth = known[row[3:]] = _worth(weights, asked, length, rarities)
            hits.append(Hit(message_id, rank.automated(source), moment, worth))
        return hits

    # --- rows ---

    def _page(self, hits: list[Hit], now: float) -> list[Match]:
        messages = {message["id"]: message for message in self._messages(hits)}
        return [Match(messages[hit.id], _score(hit, now)) for hit in hits if hit.id in messages]

    def _messages(self, hits: list[Hit]) -> Iterator[MessageRow]:
        return rows.with_ids(self.tx, [hit.id for hit in hits])


@lru_cache(maxsize=4096)
def _times(weight: float) -> int:
    """How often a word was there, from its rank."""
    return bisect_left(_RANK_OF, weight * _RANK_UNIT - 1e-5) if weight else 0


def _worth(weights: list[float], asked: list[list[int]], length: int, rarities: list[float]) -> float:
    """A phrase is taken to be there as often as its rarest word."""
    times = [*map(_times, weights)]
    counts = [body + rank.EXTRA_WEIGHT * extra for body, extra in zip(times[::2], times[1::2], strict=True)]
    return sum(
        rank.frequency(min(counts[word] for word in each), length) * rarity
        for each, rarity in zip(asked, rarities, strict=True)
    )


def _joined(rows: Sequence[Row]) -> list[Row]:
    """One row for each message, its words counted over all vectors."""
    found: dict[int, Row] = {}
    for row in rows:
        known = found.get(row[0])
        # ts_rank() falls off with repetition: counts are added, and told as the rank they would have.
        found[row[0]] = row if known is None else (*row[:4], *map(_added, known[4:], row[4:]))
    return list(found.values())


def _added(one: float, other: float) -> float:
    times = min(_times(one) + _times(other), len(_RANK_OF) - 1)
    return _RANK_OF[times] / _RANK_UNIT


def _estimated(hits: list[Hit], size: int | None, newest: int) -> int:
    """How many match in all: exactly when they were all seen, else from their density."""
    if size is None or len(hits) < size or not hits:
        return len(hits)
    span = abs(hits[0].id - hits[-1].id) + 1
    return max(len(hits), int(len(hits) * newest / span))


def _score(hit: Hit, now: float) -> float:
    return hit.worth * rank.recency(now - hit.timestamp)
