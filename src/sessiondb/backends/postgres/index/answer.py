"""One query on one snapshot.

A common word is looked for among the newest messages until there are enough; a rare one in the index first. Left to
itself, the server would walk all messages backwards for a rare word, for seconds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from ....models import Filter, Match, Matches, MessageFilter, MessageRow, Page, SearchOrder
from ....search import rank
from ....search.match import matches
from ....search.nodes import Leaf, Node, leaves
from ....search.query import Query
from ....search.scan import WEIGHED
from ....search.text import uses_tools, words
from ....sql import rows
from ....sql.driver import Row, Tx
from ....sql.filters import marks, messages_where, sessions_where
from . import tsquery

# How many of the newest messages tell how common a word is.
SAMPLE = 500
# A word that so many of them have is common.
COMMON = 0.05
# Rows of a rare word are counted up to here; its weight hardly changes beyond.
COUNTED = 2000
# ts_rank() of a word with n places of weight 1 is the sum of 1/k² for k up to n, over this.
_RANK_UNIT = 1.64493406685
_RANK_OF = list(accumulate((1 / (times * times) for times in range(1, 400)), initial=0.0))

_WITHIN = ("AND t.message_id > :edge", "AND t.message_id <= :edge")

BODY, EXTRA = "CAST(ARRAY[0, 0, 0, 1] AS REAL[])", "CAST(ARRAY[1, 0, 0, 0] AS REAL[])"
NEWEST = """
    SELECT {newest_message_id}
"""
SPAN = """
    SELECT MIN(id), MAX(id)
      FROM messages
     WHERE session_id IN (%s)
"""
CONTAINING = f"""
    SELECT COUNT(DISTINCT x.message_id)
      FROM (SELECT message_id
              FROM search_tokens
             WHERE tsv @@ CAST(:leaf AS TSQUERY)
             LIMIT {COUNTED}) x
"""


class Hit(NamedTuple):
    id: int
    automated: bool
    timestamp: float
    worth: float = 0.0


class Answer:
    def __init__(self, tx: Tx, query: Query, node: Node, where: Filter, messages: MessageFilter) -> None:
        self.tx, self.query, self.node = tx, query, node
        self.leaves = list(leaves(node))
        self.where = sessions_where(where)
        messages_where(self.where, messages)
        self.expression = tsquery.expression(node)
        self.newest = int((tx.row(NEWEST) or (0,))[0])
        if where.ids is not None:
            self._stay_within(where.ids)

    def found(self, page: Page, order: SearchOrder, now: float) -> Matches:
        size = _wanted(page, order)
        whole, *shares = self._sampled()
        hits = self._candidates(order, size, whole)
        if not tsquery.is_exact(self.node) or self.query.tools:
            hits = self._confirmed(hits)
        total = _estimated(hits, size, self.newest)
        end = None if page.limit is None else page.offset + page.limit
        if order == "relevance":
            hits = self._weighed(hits, shares)
            shown = sorted(hits, key=lambda hit: (hit.automated, -_score(hit, now), -hit.id))[page.offset : end]
        else:
            shown = self._weighed(hits[page.offset : end], shares)
        return Matches(self._page(shown, now), total, notices=self.query.notices)

    def _stay_within(self, sessions: Sequence[str]) -> None:
        """Sessions are runs of ids: telling which spares walking all matches of a common word."""
        names, params = marks("within", sessions)
        found = self.tx.row(SPAN % (names or "NULL"), params)
        low, high = found if found and found[0] is not None else (0, -1)
        self.where.add("t.message_id BETWEEN :low AND :high", low=low, high=high)

    def newest_ids(self, size: int) -> list[int]:
        """The newest messages that match."""
        return [hit.id for hit in self._candidates("newest", size, self._sampled()[0])]

    def containing(self) -> int:
        """How many messages match, about, whatever the filters."""
        counted = self._counted(self.expression)
        if counted < COUNTED:
            return counted
        return max(counted, int(self._sampled()[0] * self.newest))

    # --- how common ---

    def _sampled(self) -> list[float]:
        """The share of the newest messages that match, and the share that has each word; never quite zero."""
        names = {f"leaf{number}": tsquery.expression(leaf) for number, leaf in enumerate(self.leaves)}
        counts = ", ".join(f"COUNT(*) FILTER (WHERE tsv @@ CAST(:{name} AS TSQUERY))" for name in ("node", *names))
        found = self.tx.row(
            f"SELECT COUNT(*), {counts} FROM search_tokens WHERE message_id > :after AND chunk = 0",
            {"after": self.newest - SAMPLE, "node": self.expression, **names},
        )
        seen, *having = found or (0, *[0] * (len(names) + 1))
        return [(each + 0.1) / max(SAMPLE, seen) for each in having]

    def _rarities(self, shares: list[float]) -> list[float]:
        return [
            rank.rarity(self._containing(leaf, share), self.newest)
            for leaf, share in zip(self.leaves, shares, strict=True)
        ]

    def _containing(self, leaf: Leaf, share: float) -> int:
        if share >= COMMON and self.newest > SAMPLE:
            return int(share * self.newest)
        counted = self._counted(tsquery.expression(leaf))
        return counted if counted < COUNTED else max(counted, int(share * self.newest))

    def _counted(self, expression: str) -> int:
        """How many messages match, counted up to COUNTED."""
        found = self.tx.row(CONTAINING, {"leaf": expression})
        return int(found[0]) if found else 0

    # --- which ---

    def _candidates(self, order: SearchOrder, size: int | None, share: float) -> list[Hit]:
        if size is None or size / share > share * self.newest / 2:
            return self._found(order, size)
        # So many messages from the end hold enough, if the sample does not deceive; else all are asked.
        reach = int(1.5 * size / share) + SAMPLE
        near = self._found(order, size, reach)
        return near if len(near) >= size else self._found(order, size)

    def _found(self, order: SearchOrder, size: int | None, reach: int | None = None) -> list[Hit]:
        """The first matches in this order; with `reach` only among so many messages, one after the other."""
        parts, params = self._long_messages()
        params |= {**self.where.params, "node": self.expression, "limit": -1 if size is None else size, "offset": 0}
        # IS TRUE keeps the server from using the index for what it reads anyway.
        within, test = ("", "") if reach is None else (_WITHIN[order == "oldest"], " IS TRUE")
        if reach is not None:
            params["edge"] = reach if order == "oldest" else self.newest - reach
        found = self._joined(
            f"""
            WITH t AS MATERIALIZED (
                SELECT t.message_id
                  FROM search_tokens t
                 WHERE t.chunks = 1
                   AND (t.tsv @@ CAST(:node AS TSQUERY)){test} {within}
                 UNION ALL
                {parts.format(within=within)})
            """,
            "ASC" if order == "oldest" else "DESC",
            params,
        )
        return [Hit(message_id, rank.automated(source), moment) for message_id, source, moment in found]

    def _joined(self, candidates: str, direction: str, params: dict[str, Any]) -> list[Row]:
        # + 0 keeps the server from walking all messages in order instead of looking up the few.
        return self.tx.rows(
            f"""
            {candidates}
            SELECT m.id, s.source, m.timestamp
              FROM t
              JOIN messages m ON m.id = t.message_id
              JOIN sessions s ON s.id = m.session_id
             WHERE {self.where.sql}
             ORDER BY t.message_id + 0 {direction}
             {{page}}
            """,
            params,
        )

    def _long_messages(self) -> tuple[str, dict[str, Any]]:
        """AND, OR and NOT hold for a message, not for each of its vectors."""
        parts = tsquery.all_leaves(self.node)
        names = {leaf: f"part{number}" for number, leaf in enumerate(parts)}
        texts = {name: tsquery.expression(leaf) for leaf, name in names.items()}
        sql = f"""
            SELECT t.message_id
              FROM search_tokens t
             WHERE t.chunks > 1
               AND t.tsv @@ CAST(:touched AS TSQUERY) {{within}}
             GROUP BY t.message_id
            HAVING {tsquery.condition(self.node, names)}"""
        return sql, {**texts, "touched": " | ".join(texts.values())}

    def _confirmed(self, hits: list[Hit]) -> list[Hit]:
        exact = tsquery.is_exact(self.node)
        kept = {
            row["id"]
            for row in self._messages(hits)
            if uses_tools(row, self.query.tools) and (exact or matches(self.node, *words(row)))
        }
        return [hit for hit in hits if hit.id in kept]

    # --- how good ---

    def _weighed(self, hits: list[Hit], shares: list[float]) -> list[Hit]:
        rarities = self._rarities(shares)
        worths: dict[int, float] = {}
        for start in range(0, len(hits), WEIGHED):
            worths |= self._worths([hit.id for hit in hits[start : start + WEIGHED]], rarities)
        return [hit._replace(worth=worths.get(hit.id, 0.0)) for hit in hits]

    def _worths(self, ids: list[int], rarities: list[float]) -> dict[int, float]:
        asked = [tsquery.words_of(leaf) for leaf in self.leaves]
        names = {word: f"word{number}" for number, word in enumerate(dict.fromkeys(w for each in asked for w in each))}
        ranks = ", ".join(
            f"ts_rank({part}, tsv, CAST(:{name} AS TSQUERY))" for name in names.values() for part in (BODY, EXTRA)
        )
        found = self.tx.rows(
            f"SELECT message_id, words, {ranks} FROM search_tokens WHERE message_id = ANY(CAST(:ids AS BIGINT[]))",
            {"ids": ids, **{name: word for word, name in names.items()}},
        )
        counts: dict[int, dict[str, float]] = defaultdict(lambda: dict.fromkeys(names, 0.0))
        lengths: dict[int, int] = {}
        for message_id, length, *weights in found:
            lengths[message_id] = length
            times = [_times(weight) for weight in weights]
            for number, word in enumerate(names):
                counts[message_id][word] += times[2 * number] + rank.EXTRA_WEIGHT * times[2 * number + 1]
        return {each: _worth(counts[each], asked, lengths[each], rarities) for each in lengths}

    # --- rows ---

    def _page(self, hits: list[Hit], now: float) -> list[Match]:
        messages = {message["id"]: message for message in self._messages(hits)}
        return [Match(messages[hit.id], _score(hit, now)) for hit in hits if hit.id in messages]

    def _messages(self, hits: list[Hit]) -> Iterator[MessageRow]:
        for start in range(0, len(hits), 500):
            names, params = marks("id", [hit.id for hit in hits[start : start + 500]])
            yield from rows.messages(
                self.tx.rows(f"SELECT {rows.MESSAGE_LIST} FROM messages WHERE id IN ({names})", params)
            )


def _times(weight: float) -> int:
    """How often a word was there, from its rank."""
    return bisect_left(_RANK_OF, weight * _RANK_UNIT - 1e-5) if weight else 0


def _worth(counts: dict[str, float], asked: list[list[str]], length: int, rarities: list[float]) -> float:
    """A phrase is taken to be there as often as its rarest word."""
    return sum(
        rank.frequency(min(counts[word] for word in each), length) * rarity
        for each, rarity in zip(asked, rarities, strict=True)
    )


def _wanted(page: Page, order: SearchOrder) -> int | None:
    if page.limit is None:
        return None
    end = page.offset + page.limit
    return max(end, WEIGHED) if order == "relevance" else end


def _estimated(hits: list[Hit], size: int | None, newest: int) -> int:
    """How many match in all: exactly when they were all seen, else from their density."""
    if size is None or len(hits) < size or not hits:
        return len(hits)
    span = abs(hits[0].id - hits[-1].id) + 1
    return max(len(hits), int(len(hits) * newest / span))


def _score(hit: Hit, now: float) -> float:
    return hit.worth * rank.recency(now - hit.timestamp)
