"""Search without an index: reads every row, remembers few. What an index answers must equal what this answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappush, heappushpop

from ..models import Match, Matches, MessageRow, Page, SearchOrder, SessionRow
from ..values import NamedTuple
from . import rank
from .analyze import MAX_TOKEN
from .match import count, found, holds
from .nodes import Leaf, Node, Phrase, leaves
from .query import Query
from .text import document, readable, tool_text

# Relevance is weighed among this many matches, people's before machines', then the newest; the rest follow so.
WEIGHED = 1000
# So many matches of an index are looked at for what it does not know: what tools they use, what things they hold.
LOOKED_AT = 4000
NOT_ALL_LOOKED_AT = f"only {LOOKED_AT} messages with these words were looked at for tool: and kind:; add a rarer word"
NOT_ALL_READ = f"only {LOOKED_AT} messages with the other words were looked at for the short beginning; type more of it"


class _Hit(NamedTuple):
    row: MessageRow
    automated: bool
    frequencies: tuple[float, ...]


def scan(
    rows: Iterable[tuple[MessageRow, SessionRow]], query: Query, page: Page, order: SearchOrder, now: float
) -> Matches:
    """The page of rows that match, in order; `total` counts all that do.

    The query's filters are the caller's to apply, see `query.narrow`; only `Query.admits` is asked here.
    """
    if query.node is None:
        return Matches((), 0, notices=_notices(query))
    survey = _Survey(query, query.node, _Window(kept(page, order), order))
    for message, session in rows:
        survey.look_at(message, session)
    hits = survey.window.best()
    if order == "relevance":
        hits[:WEIGHED] = survey.by_relevance(hits[:WEIGHED], now)
    end = None if page.limit is None else page.offset + page.limit
    shown = [Match(hit.row, survey.score(hit, now)) for hit in hits[page.offset : end]]
    return Matches(shown, survey.total, notices=_notices(query))


def _notices(query: Query) -> tuple[str, ...]:
    return (*([query.problem] if query.problem else []), *query.notices)


def kept(page: Page, order: SearchOrder, least: int = 0) -> int | None:
    """How many rows must be remembered to be sure of the page, `least` at least; None is all."""
    if page.limit is None:
        return None
    end = page.offset + page.limit
    return max(end, WEIGHED if order == "relevance" else least)


class Weighing:
    """How well single messages match a query, told without looking at the others."""

    def __init__(self, query: Query, scored: Sequence[Leaf | None]) -> None:
        """`scored` are the leaves to count; None stands for one that must be absent."""
        assert query.node is not None
        self.query, self.node, self.scored = query, query.node, scored
        self.wanted = tuple(leaves(query.node))

    def matched(self, message: MessageRow) -> list[float] | None:
        """The frequency of each scored leaf; None when the message does not match."""
        body, tools = readable(message), tool_text(message)
        if not _any_possible(self.wanted, body, tools):
            return None
        document = _Document(body, tools)
        if not holds(self.node, document.has) or not self.query.admits(message):
            return None
        return [rank.frequency(document.count(leaf), len(document.body)) if leaf else 0.0 for leaf in self.scored]


class _Window:
    """The first `size` hits in an order that is known without the others."""

    def __init__(self, size: int | None, order: SearchOrder) -> None:
        self.size = size
        self.order = order
        self.heap: list[tuple[bool, int, int, _Hit]] = []
        self.arrivals = 0

    def add(self, hit: _Hit) -> None:
        self.arrivals += 1
        person = self.order == "relevance" and not hit.automated
        entry = (person, -hit.row["id"] if self.order == "oldest" else hit.row["id"], -self.arrivals, hit)
        if self.size is None or len(self.heap) < self.size:
            heappush(self.heap, entry)
        elif self.size:
            heappushpop(self.heap, entry)

    def best(self) -> list[_Hit]:
        return [hit for *_, hit in sorted(self.heap, key=lambda entry: entry[:3], reverse=True)]


class _Survey:
    """What one pass over the rows learns: matches, and in how many rows each word is."""

    def __init__(self, query: Query, node: Node, window: _Window) -> None:
        self.query = query
        self.node = node
        self.window = window
        self.leaves = tuple(leaves(node))
        self.containing = [0] * len(self.leaves)
        self.rows = 0
        self.total = 0

    def look_at(self, message: MessageRow, session: SessionRow) -> None:
        """Count the row in, and keep it when it matches."""
        self.rows += 1
        body, tools = readable(message), tool_text(message)
        if not _any_possible(self.leaves, body, tools):
            return
        document = _Document(body, tools)
        counts = [document.count(leaf) for leaf in self.leaves]
        self.containing = [seen + (times > 0) for seen, times in zip(self.containing, counts, strict=True)]
        if holds(self.node, document.has) and self.query.admits(message):
            self.total += 1
            frequencies = tuple(rank.frequency(times, len(document.body)) for times in counts)
            self.window.add(_Hit(message, rank.automated(session.get("source")), frequencies))

    def by_relevance(self, hits: Sequence[_Hit], now: float) -> list[_Hit]:
        return sorted(hits, key=lambda hit: (hit.automated, -self.score(hit, now), -hit.row["id"]))

    def score(self, hit: _Hit, now: float) -> float:
        """Final once all rows were looked at."""
        rarities = [rank.rarity(containing, self.rows) for containing in self.containing]
        return rank.score(hit.frequencies, rarities, now - (hit.row.get("timestamp") or 0.0))


class _Document:
    """The words of one message, counted for one query."""

    def __init__(self, body: str, tools: str) -> None:
        self.body, self.extra = document(body, tools)

    def count(self, leaf: Leaf) -> float:
        return count(leaf, self.body) + rank.EXTRA_WEIGHT * count(leaf, self.extra)

    def has(self, leaf: Leaf) -> bool:
        return found(leaf, self.body) or found(leaf, self.extra)


def _any_possible(wanted: Iterable[Leaf], body: str, tools: str) -> bool:
    """False only when no leaf can be in the text: the words of ASCII text are substrings of its lower case."""
    text = f"{body}\n{tools}" if tools else body
    if not text.isascii():
        return True
    lowered = text.lower()
    return any(_possible(leaf, lowered) for leaf in wanted)


def _possible(leaf: Leaf, lowered: str) -> bool:
    tokens = leaf.tokens if isinstance(leaf, Phrase) else (leaf.token,)
    return all(len(token) == MAX_TOKEN or token in lowered for token in tokens)
