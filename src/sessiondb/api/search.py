"""Search in messages: every word typed, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import Invalid
from ..models import ContextLine, Filter, Match, MessageFilter, MessageRow, SearchHit, SearchOrder, SessionRow
from ..rows import text_of
from .handle import Handle
from .sessions import check_page

if TYPE_CHECKING:
    from ..search.query import Node

CONTEXT_LENGTH = 200
_ORDERS: dict[str, SearchOrder] = {"relevance": "relevance", "newest": "newest", "oldest": "oldest"}


class Search(Handle):
    def search_messages(
        self,
        query: str,
        source_filter: Sequence[str] | None = None,
        exclude_sources: Sequence[str] | None = None,
        role_filter: Sequence[str] | None = None,
        limit: int = 20,
        offset: int = 0,
        *,
        order: str = "relevance",
        session_id: str | None = None,
        where: Filter | None = None,
        include_inactive: bool = False,
    ) -> list[SearchHit]:
        """Messages that hold all words of the query, best first, with a snippet and their neighbours.

        Words, "phrases", OR, NOT, -word, prefix*, parentheses and field filters such as source:cli; anything else is
        literal text, so paths, URLs and commands are found as typed. Never raises for a query.
        """
        if order not in _ORDERS:
            raise Invalid(f"unknown order {order!r}; use one of {', '.join(_ORDERS)}")
        from ..search.query import narrow, parse

        parsed = parse(query)
        now = self._clock()
        sessions, messages = narrow(
            parsed,
            where or _sessions(source_filter, exclude_sources, session_id),
            MessageFilter(roles=tuple(role_filter or ()), include_inactive=include_inactive),
            now,
        )
        page = check_page(limit, offset)
        found = self.provider.search(parsed, sessions, messages, page, _ORDERS[order], now)
        return [self._hit(match, parsed.node) for match in found.hits]

    def _hit(self, match: Match, node: Node | None) -> SearchHit:
        from ..search.snippet import row_snippet

        message = match.message
        session: SessionRow = self.provider.get_session(message["session_id"]) or {}
        return {
            "id": message["id"],
            "session_id": message["session_id"],
            "role": message["role"],
            "snippet": row_snippet(message, node),
            "timestamp": message["timestamp"],
            "tool_name": message["tool_name"],
            "source": session.get("source", ""),
            "model": session.get("model"),
            "session_started": session.get("started_at", message["timestamp"]),
            "context": self._context(message),
            "title": session.get("title"),
            "score": match.score,
        }

    def _context(self, message: MessageRow) -> list[ContextLine]:
        session_id, seq = message["session_id"], message["seq"] or 0
        before = self.provider.get_messages(session_id, before=seq, limit=1, newest=True)
        after = self.provider.get_messages(session_id, after=seq, limit=1)
        return [_line(row) for row in (*before, message, *after)]


def _sessions(sources: Sequence[str] | None, exclude: Sequence[str] | None, session_id: str | None) -> Filter:
    return Filter(
        ids=None if session_id is None else (session_id,),
        sources=None if sources is None else tuple(sources),
        exclude_sources=tuple(exclude or ()),
    )


def _line(row: MessageRow) -> ContextLine:
    return {"role": row["role"], "content": text_of(row["content"])[:CONTEXT_LENGTH]}
