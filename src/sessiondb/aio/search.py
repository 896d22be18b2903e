"""Search in messages: every word typed, exactly; or parts of words, words with slips, regular expressions.

Written by tools/make_async.py from api/search.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..api.search import _WORDS, DEADLINE
from .handle import AsyncHandle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..models import Filter, SearchResults


class AsyncSearch(AsyncHandle):
    async def search_messages(
        self,
        query: str,
        source_filter: Sequence[str] | None = None,
        exclude_sources: Sequence[str] | None = None,
        role_filter: Sequence[str] | None = None,
        limit: int = 20,
        offset: int = 0,
        *,
        order: str = "relevance",
        mode: str = _WORDS,
        session_id: str | None = None,
        chat_id: str | None = None,
        user_id: str | None = None,
        tags: Sequence[str] = (),
        since: float | None = None,
        until: float | None = None,
        where: Filter | None = None,
        include_inactive: bool = False,
        deadline: float = DEADLINE,
    ) -> SearchResults:
        """Messages that hold all words of the query, best first, with a snippet and their neighbours.

        Words, "phrases", OR, NOT, -word, prefix*, parentheses and field filters such as source:cli; anything else is
        literal text, so paths, URLs and commands are found as typed. Never raises for a query. By relevance, sessions
        whose title matches come first, as hits with `matched` "title".

        `mode` "substring", "fuzzy" or "regex" reads the messages themselves, people's before machines', newest first,
        for `deadline` seconds at most; so does a query of `kind:` alone. The answer is a list that also knows `total`,
        `index_lag`, `notices` and `did_you_mean`.
        """
        return await self._read(
            lambda db: db.search_messages(
                query,
                source_filter,
                exclude_sources,
                role_filter,
                limit,
                offset,
                order=order,
                mode=mode,
                session_id=session_id,
                chat_id=chat_id,
                user_id=user_id,
                tags=tags,
                since=since,
                until=until,
                where=where,
                include_inactive=include_inactive,
                deadline=deadline,
            )
        )

    async def index(self, tick: Callable[[int, int], None] | None = None) -> None:
        """Bring the search index up to date, as after an import; `tick` is told how many messages are done, of all.

        Nobody must: searches and long-lived processes do it by the way, in small steps.
        """
        return await self._write(None, lambda db: db.index(tick))
