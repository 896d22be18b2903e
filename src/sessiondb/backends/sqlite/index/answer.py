"""One query on one snapshot of index and data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from ....models import MESSAGE_COLUMNS, Filter, Match, Matches, MessageFilter, MessageRow, Page, SearchOrder
from ....search import rank
from ....search.match import count, matches
from ....search.nodes import Leaf, Term
from ....search.query import Query
from ....search.scan import WEIGHED
from ....search.text import uses_tools, words
from ....sql import rows
from ....sql.driver import Row
from ....sql.filters import marks, messages_where, sessions_where
from ..connection import SQLiteTx
from . import fts5

# How many rows of a word are counted before the rest is estimated from their density.
COUNTED = 20_000
# What a prefix is taken to be worth: counting all words that start so would cost more than the search.
PREFIX_SHARE = 0.01

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
    worth: float
    timestamp: float


class Answer:
    def __init__(self, connection: apsw.Connection, query: Query, where: Filter, messages: MessageFilter) -> None:
        assert query.node is not None
        self.tx = SQLiteTx(connection)
        self.query, self.node = query, query.node
        self.leaves = fts5.scored_leaves(query.node)
        self.where = sessions_where(where)
        messages_where(self.where, messages)
        self.bounds = None if where.ids is None else self._span(where.ids)

    def found(self, last_id: int, page: Page, order: SearchOrder, now: float) -> Matches:
        """The page of matches; rows after `last_id` are not in the index and are read one by one."""
        self.tx.connection.execute("BEGIN")
        try:
            rarities = self._rarities(last_id)
            size = _wanted(page, order)
            hits = self._indexed(rarities, order, size)
            total = _estimated(hits, size, last_id)
            fresh = list(self._unindexed(rarities, last_id))
            ordered = _ordered(hits + fresh, order, now)
            end = None if page.limit is None else page.offset + page.limit
            return Matches(self._page(ordered[page.offset : end], now), total + len(fresh), notices=self.query.notices)
        finally:
            self.tx.connection.execute("ROLLBACK")

    def _span(self, sessions: Sequence[str]) -> tuple[int, int]:
        """Sessions are runs of ids: telling the index which saves it from walking all matches of a common word."""
        names, params = marks("within", sessions)
        found = self.tx.row(f"SELECT MIN(id), MAX(id) FROM messages WHERE session_id IN ({names or 'NULL'})", params)
        return (0, -1) if found is None or found[0] is None else (found[0], found[1])

    # --- what the index knows ---

    def _rarities(self, total: int) -> list[float]:
        return [0.0 if leaf is None else rank.rarity(self._containing(leaf, total), total) for leaf in self.leaves]

    def _containing(self, leaf: Leaf, total: int) -> int:
        """In how many messages a word is, about."""
        if leaf.prefix:
            return int(total * PREFIX_SHARE)
        limit = COUNTED if isinstance(leaf, Term) else COUNTED // 4
        found = self.tx.row(COUNT_WORD, {"expression": fts5.expression(leaf), "limit": limit})
        counted, oldest, newest = found or (0, 0, 0)
        return counted if counted < limit else min(total, int(counted * total / (newest - oldest + 1)))

    def _indexed(self, rarities: list[float], order: SearchOrder, size: int | None) -> list[Hit]:
        worth = f"relevance(messages_fts{fts5.arguments(rarities)})" if order == "relevance" else "0.0"
        between = ""
        params: dict[str, object] = {
            "expression": fts5.expression(self.node),
            "limit": -1 if size is None else size,
            "offset": 0,
        }
        if self.bounds is not None:
            between = "AND messages_fts.rowid BETWEEN :low AND :high"
            params |= {"low": self.bounds[0], "high": self.bounds[1]}
        # CROSS: the index leads, or SQLite may decide to walk all messages.
        found = self.tx.rows(
            f"""
            SELECT m.id, s.source, {worth}, m.timestamp
              FROM messages_fts
             CROSS JOIN messages m ON m.id = messages_fts.rowid
             CROSS JOIN sessions s ON s.id = m.session_id
             WHERE messages_fts MATCH :expression
               {between}
               AND {self.where.sql}
             ORDER BY messages_fts.rowid {"ASC" if order == "oldest" else "DESC"}
             {{page}}
            """,
            self.where.params | params,
        )
        hits = [Hit(each, rank.automated(source), worth, moment) for each, source, worth, moment in found]
        return self._with_tools(hits) if self.query.tools else hits

    def _with_tools(self, hits: list[Hit]) -> list[Hit]:
        kept = {row["id"] for row in self._messages(hits) if uses_tools(row, self.query.tools)}
        return [hit for hit in hits if hit.id in kept]

    # --- what it does not know yet ---

    def _unindexed(self, rarities: list[float], last_id: int) -> Iterator[Hit]:
        after = last_id
        while found := self._after(after):
            for row in found:
                message = rows.message(row[:-1])
                hit = self._looked_at(message, row[-1], rarities)
                if hit is not None:
                    yield hit
            after = found[-1][0]

    def _after(self, last_id: int) -> list[Row]:
        return self.tx.rows(
            f"""
            SELECT {rows.prefixed(MESSAGE_COLUMNS, "m")}, s.source
              FROM messages m
              JOIN sessions s ON s.id = m.session_id
             WHERE m.id > :after
               AND {self.where.sql}
             ORDER BY m.id
             {{page}}
            """,
            self.where.params | {"after": last_id, "limit": 500, "offset": 0},
        )

    def _looked_at(self, message: MessageRow, source: str, rarities: list[float]) -> Hit | None:
        body, extra = words(message)
        if not matches(self.node, body, extra) or not uses_tools(message, self.query.tools):
            return None
        worth = 0.0
        for leaf, rarity in zip(self.leaves, rarities, strict=True):
            if leaf is not None:
                times = count(leaf, body) + rank.EXTRA_WEIGHT * count(leaf, extra)
                worth += rank.frequency(times, len(body)) * rarity
        return Hit(message["id"], rank.automated(source), worth, message["timestamp"])

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


def _wanted(page: Page, order: SearchOrder) -> int | None:
    if page.limit is None:
        return None
    end = page.offset + page.limit
    return max(end, WEIGHED) if order == "relevance" else end


def _estimated(hits: list[Hit], size: int | None, total: int) -> int:
    """How many match in all: exactly when they were all seen, else from their density."""
    if size is None or len(hits) < size or not hits:
        return len(hits)
    span = abs(hits[0].id - hits[-1].id) + 1
    return max(len(hits), int(len(hits) * total / span))


def _score(hit: Hit, now: float) -> float:
    return hit.worth * rank.recency(now - hit.timestamp)


def _ordered(hits: list[Hit], order: SearchOrder, now: float) -> list[Hit]:
    if order == "relevance":
        return sorted(hits, key=lambda hit: (hit.automated, -_score(hit, now), -hit.id))
    return sorted(hits, key=lambda hit: hit.id, reverse=order == "newest")
