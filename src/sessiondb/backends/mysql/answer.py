"""One query on the words stored beside the messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...models import Filter, Match, Matches, MessageFilter, MessageRow, Page, SearchOrder
from ...search import rank
from ...search.match import holds, matches
from ...search.nodes import And, Leaf, Node, Not, Or, Phrase, leaves
from ...search.query import Query
from ...search.scan import WEIGHED
from ...search.text import uses_tools, words
from ...sql import rows
from ...sql.driver import Row, Tx
from ...sql.filters import marks, messages_where, sessions_where
from . import boolean
from .encoding import is_cut

# Among so many of the newest messages a word's share is looked up; the index is asked only for rarer words.
SAMPLE = 2000
ENOUGH = 20
BATCH = 1000

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


class Hit(NamedTuple):
    id: int
    automated: bool
    timestamp: float
    worth: float = 0.0


class Answer:
    def __init__(self, tx: Tx, query: Query, where: Filter, messages: MessageFilter) -> None:
        assert query.node is not None
        self.tx, self.query, self.node = tx, query, query.node
        self.leaves = tuple(leaves(query.node))
        self.where = sessions_where(where)
        messages_where(self.where, messages)

    def found(self, page: Page, order: SearchOrder, now: float) -> Matches:
        size = _wanted(page, order)
        hits = self._whole(order, size)
        total = self._estimated(hits, size)
        long_hits = self._long() if self.has_chunks() else []
        candidates = hits + long_hits
        hits = self._checked(candidates)
        total += len(long_hits) - (len(candidates) - len(hits))
        if order == "relevance":
            tables = ("search_words", "search_chunks") if long_hits else ("search_words",)
            hits = self._weighed(hits, tables, complete=size is None or len(hits) < size)
        ordered = _ordered(hits, order, now)
        end = None if page.limit is None else page.offset + page.limit
        shown = self._page(ordered[page.offset : end], now)
        return Matches(shown, total, notices=self.query.notices)

    # --- who matches ---

    def _whole(self, order: SearchOrder, size: int | None) -> list[Hit]:
        """Messages whose words are in one row."""
        return _hits(self.matching(self.node, HIT, size, oldest=order == "oldest"))

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
        if not cut and not self.query.tools:
            return hits
        kept = {
            row["id"]
            for row in self._messages(hits)
            if uses_tools(row, self.query.tools) and (not cut or matches(self.node, *words(row)))
        }
        return [hit for hit in hits if hit.id in kept]

    # --- what they are worth ---

    def _weighed(self, hits: list[Hit], tables: Sequence[str], *, complete: bool) -> list[Hit]:
        # One word, and all its messages are here: there is nothing to look up.
        rarities = self._rarities(len(hits) if complete and len(self.leaves) == 1 else None)
        worths: dict[int, float] = {}
        for start in range(0, len(hits), BATCH):
            ids = [hit.id for hit in hits[start : start + BATCH]]
            for table in tables:
                for each, length, *times in self._counts(table, ids):
                    worths[each] = sum(map(_worth, times[::2], times[1::2], [length] * len(rarities), rarities))
        return [hit._replace(worth=worths.get(hit.id, 0.0)) for hit in hits]

    def _counts(self, table: str, ids: Sequence[int]) -> list[Row]:
        """Of each message its length and, leaf by leaf, how often it is in the text and in the extra words."""
        needles = boolean.Needles()
        names, params = marks("id", ids)
        columns = [f"SUM({needles.times(leaf, column)})" for leaf in self.leaves for column in ("body", "extra")]
        return self.tx.rows(
            f"""
            SELECT w.message_id, MAX(w.words), {", ".join(columns)}
              FROM {table} w
             WHERE w.message_id IN ({names})
             GROUP BY w.message_id
            """,
            needles.params | params,
        )

    def _rarities(self, counted: int | None) -> list[float]:
        oldest = self.tx.row(OLDEST_OF_SAMPLE, {"skipped": SAMPLE - 1})
        if oldest is None:
            sampled, *seen = self._sample(0)
            return [rank.rarity(int(times or 0), sampled) for times in seen]
        total = self._newest()
        if counted is not None:
            return [rank.rarity(counted, total)]
        _, *seen = self._sample(oldest[0])
        shares = zip(self.leaves, seen, strict=True)
        return [rank.rarity(self._containing(leaf, int(times or 0), total), total) for leaf, times in shares]

    def _newest(self) -> int:
        found = self.tx.row(NEWEST)
        return int(found[0]) if found else 0

    def _sample(self, oldest: int) -> Row:
        needles = boolean.Needles()
        columns = "".join(f", SUM({needles.present(leaf)})" for leaf in self.leaves)
        found = self.tx.row(
            f"SELECT COUNT(*){columns} FROM search_words w WHERE w.message_id >= :oldest",
            needles.params | {"oldest": oldest},
        )
        return found or (0,) * (len(self.leaves) + 1)

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
        few = self.tx.row(OLDEST_OF_SAMPLE, {"skipped": SAMPLE - 1}) is None
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
        for start in range(0, len(hits), 500):
            names, params = marks("id", [hit.id for hit in hits[start : start + 500]])
            yield from rows.messages(
                self.tx.rows(f"SELECT {rows.MESSAGE_LIST} FROM messages WHERE id IN ({names})", params)
            )


def _hits(found: Sequence[Row]) -> list[Hit]:
    return [Hit(each, rank.automated(source), moment) for each, source, moment in found]


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


def _worth(body: float, extra: float, length: int, rarity: float) -> float:
    return rank.frequency(body + rank.EXTRA_WEIGHT * extra, length) * rarity


def _wanted(page: Page, order: SearchOrder) -> int | None:
    if page.limit is None:
        return None
    end = page.offset + page.limit
    return max(end, WEIGHED) if order == "relevance" else end


def _score(hit: Hit, now: float) -> float:
    return hit.worth * rank.recency(now - hit.timestamp)


def _ordered(hits: list[Hit], order: SearchOrder, now: float) -> list[Hit]:
    if order == "relevance":
        return sorted(hits, key=lambda hit: (hit.automated, -_score(hit, now), -hit.id))
    return sorted(hits, key=lambda hit: hit.id, reverse=order == "newest")
