"""What `search` does: titles, the ranking for plain questions, and the exact search beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from ..db import SessionDB
from ..models import Filter, MessageFilter, SessionRow
from ..search.query import parse
from ..search.snippet import OPEN
from ..values import dataclass, field, replace

# So many messages are worth reading; what holds only some of the words fills up to here.
_ENOUGH = 10
_MOST_TITLES = 5
_BY_MODE = {"relevance": "people's first, newest first", "newest": "newest first", "oldest": "oldest first"}

Hit = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    query: str
    where: Filter
    messages: MessageFilter
    limit: int
    order: str = "relevance"
    mode: str = "words"
    exact: bool = False

    @property
    def ranked(self) -> bool:
        """Whether a plain question may be answered by some of its words."""
        return self.mode == "words" and self.order == "relevance" and not self.exact and not parse(self.query).lists


@dataclass()
class Found:
    db: SessionDB
    wanted: Wanted
    hits: Sequence[Hit]
    # None where counting would cost more than the answer.
    total: int | None = None
    index_lag: int | None = None
    notices: Sequence[str] = field(default_factory=tuple)

    @property
    def query(self) -> str:
        return self.wanted.query

    @cached_property
    def did_you_mean(self) -> str | None:
        """When nothing was found: the query with words that messages have."""
        if self.hits or self.wanted.mode != "words":
            return None
        return self.db.search_messages(self.query, where=self.wanted.where, limit=1).did_you_mean

    def explanation(self) -> dict[str, Any]:
        """How the query was understood."""
        if self.wanted.mode != "words":
            return {"ranking": f"{_BY_MODE[self.wanted.order]}, by {self.wanted.mode}"}
        from ..search.question import understand

        asked = understand(self.query)
        looked_for = {_leaf(thing.exact): [f"{root.start}*" for root in thing.roots] for thing in asked.wanted}
        return {
            "ranking": "question" if self.wanted.ranked else f"exact words, {self.wanted.order}",
            "looked_for": looked_for,
            "set_aside": list(asked.asides) if self.wanted.ranked else [],
            "filters": [f"{name}:{value}" for name, value in asked.query.filters],
        }


def _leaf(leaf: Any) -> str:
    words = " ".join(leaf.tokens) if hasattr(leaf, "tokens") else str(leaf.token)
    return words + ("*" if leaf.prefix else "")


def find(db: SessionDB, wanted: Wanted) -> Found:
    if wanted.ranked:
        return Found(db, wanted, _ranked(db, wanted), notices=parse(wanted.query).notices)
    results = db.search_messages(
        wanted.query,
        role_filter=wanted.messages.roles or None,
        since=wanted.messages.since,
        until=wanted.messages.until,
        limit=wanted.limit,
        order=wanted.order,
        mode=wanted.mode,
        where=wanted.where,
    )
    return Found(
        db, wanted, [{**hit, "partial": False} for hit in results], results.total, results.index_lag, results.notices
    )


def _ranked(db: SessionDB, wanted: Wanted) -> list[Hit]:
    """All words first; then some of them. Replies without any of the words only when nothing has all."""
    from ..search.recall import rank_messages

    found = rank_messages(db, wanted.query, wanted.limit, where=wanted.where, messages=wanted.messages)
    whole = [hit for hit in found if not hit["partial"]]
    partial = [hit for hit in found if hit["partial"] and (not whole or OPEN in hit["snippet"])]
    partial = partial[: max(0, _ENOUGH - len(whole))]
    kept = [{**hit, "matched": "message"} for hit in (*whole, *partial)]
    return [*_titles(db, wanted), *kept][: wanted.limit]


def _titles(db: SessionDB, wanted: Wanted) -> list[Hit]:
    """Sessions whose title holds all the words; none when messages of a kind are asked for."""
    from ..search.query import narrow

    query = parse(wanted.query)
    if query.node is None or query.looks_at_rows or wanted.messages.roles:
        return []
    where, messages = narrow(query, wanted.where, wanted.messages, db._clock())
    if messages.roles:
        return []
    where = replace(where, active_since=messages.since, active_until=messages.until)
    found = db.provider.search_titles(query, where)[:_MOST_TITLES]
    return [_title_hit(row, query.node) for row in found]


def _title_hit(row: SessionRow, node: Any) -> Hit:
    from ..search.snippet import snippet

    return {
        "id": 0,
        "session_id": row["id"],
        "role": "title",
        "timestamp": row.get("last_active") or row["started_at"],
        "score": 0.0,
        "partial": False,
        "snippet": snippet(row["title"] or "", node),
        "source": row["source"],
        "title": row["title"],
        "matched": "title",
    }
