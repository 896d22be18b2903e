"""How a provider answers searches by reading its messages; those with an index have shorter ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .models import (
    Filter,
    Matches,
    MessageFilter,
    MessageRow,
    Page,
    SearchOrder,
    SessionRow,
    Surroundings,
    TextMode,
)
from .rows import context_line
from .values import replace

if TYPE_CHECKING:
    from .provider import SessionDBProvider
    from .search.query import Node, Query
    from .search.relaxed import Candidates


class Searchable:
    """No provider is without search."""

    def search(  # type: ignore[misc]
        self: SessionDBProvider,
        query: Query,
        where: Filter,
        messages: MessageFilter,
        page: Page,
        order: SearchOrder,
        now: float,
    ) -> Matches:
        """Messages that match, best first. This base form reads every row, so that no provider is without search."""
        from .search.scan import scan

        return scan(self.scan_messages(where, messages), query, page, order, now)

    def candidates(  # type: ignore[misc]
        self: SessionDBProvider, parts: Sequence[Node], where: Filter, messages: MessageFilter, limit: int
    ) -> Candidates:
        """The messages that hold most of the parts, without their texts; the order is that of `relaxed.best`.

        An index may leave out messages that hold a single, common part only.
        """
        from .search.relaxed import gather

        return gather(self.scan_messages(where, messages), parts, limit)

    def search_text(  # type: ignore[misc]
        self: SessionDBProvider,
        pattern: str,
        mode: TextMode,
        where: Filter,
        messages: MessageFilter,
        page: Page,
        *,
        oldest: bool = False,
        deadline: float,
    ) -> Matches:
        """Messages whose text holds the pattern, the newest (or oldest) first; stops at the deadline and says so."""
        from .search.modes import scan_text

        rows = self.scan_messages(where, messages, newest=not oldest)
        return scan_text(rows, pattern, mode, page, deadline)

    def search_titles(self: SessionDBProvider, query: Query, where: Filter) -> list[SessionRow]:  # type: ignore[misc]
        """Sessions whose title matches, the last active first."""
        from .search.match import matches
        from .search.text import document

        if query.node is None:
            return []
        node = query.node
        titled = self.find_titles("")
        ids = [row["id"] for row in titled if matches(node, *document(row["title"] or "", ""))]
        kept = ids if where.ids is None else [each for each in ids if each in where.ids]
        return list(self.list_sessions(replace(where, ids=kept), Page(None), "activity")) if kept else []

    def surroundings(self: SessionDBProvider, messages: Sequence[MessageRow]) -> list[Surroundings]:  # type: ignore[misc]
        """For each message its session and its visible neighbours."""
        return [self._surroundings(message["session_id"], message["seq"] or 0) for message in messages]

    def _surroundings(self: SessionDBProvider, session_id: str, seq: int) -> Surroundings:  # type: ignore[misc]
        before = self.get_messages(session_id, before=seq, limit=1, newest=True)
        after = self.get_messages(session_id, after=seq, limit=1)
        return Surroundings(
            self.get_session(session_id) or {},
            context_line(before[0]) if before else None,
            context_line(after[0]) if after else None,
        )

    def near_words(self: SessionDBProvider, words: Sequence[str]) -> dict[str, str]:  # type: ignore[misc]
        """For each of these words that no message has, a similar one that some have."""
        from .search.near import near_words

        return near_words(self.scan_messages(Filter(), MessageFilter()), words)

    def update_index(self: SessionDBProvider, tick: Callable[[int, int], None] | None = None) -> None:  # type: ignore[misc]
        """Bring the search index up to date, where there is one that lags; `tick` is told done and total."""
        total = self.count_messages()
        if tick is not None:
            tick(total, total)
