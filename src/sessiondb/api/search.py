"""Search in messages: every word typed, exactly; or parts of words, words with slips, regular expressions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from ..drafts import check_filter, check_text, check_texts, check_time
from ..errors import Invalid, NotSupported
from ..models import (
    ContextLine,
    Filter,
    Matches,
    MessageFilter,
    MessageRow,
    Page,
    SearchHit,
    SearchOrder,
    SearchResults,
    SessionRow,
    TextMode,
)
from ..rows import context_line
from ..values import replace
from .handle import Handle
from .sessions import check_page

if TYPE_CHECKING:
    from ..search.query import Query

CONTEXT_LENGTH = 200
DEADLINE = 5.0
# A day: some engines have no word for more.
LONGEST_DEADLINE = 86_400
_ORDERS: dict[str, SearchOrder] = {"relevance": "relevance", "newest": "newest", "oldest": "oldest"}
_TEXT_MODES: dict[str, TextMode] = {"substring": "substring", "fuzzy": "fuzzy", "regex": "regex"}
_WORDS = "words"
_EVERYTHING = Filter()

Shown = Callable[[MessageRow], str]


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
        if not isinstance(query, str):
            raise Invalid(f"the query must be text, not {type(query).__name__}")
        chosen = _chosen(where, source_filter, exclude_sources, session_id, chat_id, user_id, tags)
        messages = MessageFilter(check_texts(role_filter, "role_filter"), *_times(since, until), include_inactive)
        page = check_page(limit, offset)
        if not isinstance(order, str) or order not in _ORDERS:
            raise Invalid(f"unknown order {order!r}; use one of {', '.join(_ORDERS)}")
        if mode == _WORDS:
            return self._search_words(query, chosen, messages, page, _ORDERS[order], deadline)
        return self._search_text(query, mode, chosen, messages, page, _ORDERS[order], deadline)

    def index(self, tick: Callable[[int, int], None] | None = None) -> None:
        """Bring the search index up to date, as after an import; `tick` is told how many messages are done, of all.

        Nobody must: searches and long-lived processes do it by the way, in small steps.
        """
        self.provider.update_index(tick)

    # --- words ---

    def _search_words(
        self, box: str, where: Filter, messages: MessageFilter, page: Page, order: SearchOrder, deadline: float
    ) -> SearchResults:
        from ..search.query import narrow, parse

        query, now = parse(box), self._clock()
        if query.filters:
            where, messages = narrow(query, where, messages, now)
        if query.lists:
            return self._search_kinds(query, where, messages, page, order, deadline)
        if query.node is None:
            self._raise_if_closed()
        titled = self._titled(query, where, messages) if order == "relevance" else []
        shown = titled[page.offset :][: page.limit]
        rest = _after(page, len(titled))
        found = self.provider.search(query, where, messages, rest, order, now)
        hits = [self._title_hit(session, query) for session in shown]
        hits += self._hits(found, _word_snippet(query))
        whole = replace(found, total=found.total + len(titled)) if titled else found
        return SearchResults(hits, whole, lambda: self._suggestion(query))

    def _titled(self, query: Query, where: Filter, messages: MessageFilter) -> list[SessionRow]:
        """Sessions whose title matches; none when messages of a kind are asked for, which a title is not."""
        if query.node is None or messages.roles or query.looks_at_rows:
            return []
        if messages.since is not None and where.active_since is None:
            where = replace(where, active_since=messages.since)
        if messages.until is not None and where.active_until is None:
            where = replace(where, active_until=messages.until)
        return self.provider.search_titles(query, where)

    def _title_hit(self, session: SessionRow, query: Query) -> SearchHit:
        from ..search.snippet import snippet

        first = self.provider.get_messages(session["id"], limit=2)
        return {
            "id": first[0]["id"] if first else 0,
            "session_id": session["id"],
            "role": "title",
            "snippet": snippet(session["title"] or "", query.node),
            "timestamp": session.get("last_active") or session["started_at"],
            "tool_name": None,
            **_facts(session),
            "context": [_cut(context_line(row)) for row in first],
            "score": 0.0,
            "matched": "title",
        }

    def _suggestion(self, query: Query) -> str | None:
        """The query with words that messages or titles have; None when there are none that look alike."""
        from ..search.near import closest, reworded, title_words, words_of

        words = words_of(query)
        near = dict(self.provider.near_words(words)) if words else {}
        titled = title_words(self.provider.find_titles("")) if words else {}
        for word in words:
            if word in titled:
                near.pop(word, None)
            elif word not in near and (other := closest(word, titled.items())) and not self._is_said(word):
                near[word] = other
        return reworded(query, near) if near else None

    def _is_said(self, word: str) -> bool:
        from ..search.query import parse

        return self.provider.search(parse(word), Filter(), MessageFilter(), Page(1), "newest", self._clock()).total > 0

    # --- kinds of things ---

    def _search_kinds(
        self, query: Query, where: Filter, messages: MessageFilter, page: Page, order: SearchOrder, deadline: float
    ) -> SearchResults:
        """The messages that hold such things, the newest (or oldest) first; by relevance people's before machines'."""
        from ..search.filters import people_and_machines
        from ..search.modes import admitted
        from ..search.snippet import items_snippet

        scopes = people_and_machines(where) if order == "relevance" else (where,)
        rows = chain.from_iterable(
            self.provider.scan_messages(scope, messages, newest=order != "oldest") for scope in scopes
        )
        found = admitted(rows, query, page, _positive(deadline))
        return SearchResults(self._hits(found, lambda message: items_snippet(message, query.kinds)), found)

    # --- texts ---

    def _search_text(
        self,
        pattern: str,
        mode: str,
        where: Filter,
        messages: MessageFilter,
        page: Page,
        order: SearchOrder,
        deadline: float,
    ) -> SearchResults:
        if not isinstance(mode, str) or mode not in _TEXT_MODES:
            raise Invalid(f"unknown mode {mode!r}; use one of {', '.join((_WORDS, *_TEXT_MODES))}")
        if not getattr(self.features, f"{mode}_search"):
            raise NotSupported(f"{self.provider.name} offers no search by {mode}; use mode='words'")
        _positive(deadline)
        from ..search.modes import finder, searched_text
        from ..search.snippet import places_snippet

        kind = _TEXT_MODES[mode]
        wanted = finder(pattern, kind)
        found = self._found_text(pattern, kind, where, messages, page, order, deadline)

        def shown(message: MessageRow) -> str:
            text = searched_text(message)
            return places_snippet(text, wanted.places(text, deadline))

        return SearchResults(self._hits(found, shown), found)

    def _found_text(
        self,
        pattern: str,
        mode: TextMode,
        where: Filter,
        messages: MessageFilter,
        page: Page,
        order: SearchOrder,
        deadline: float,
    ) -> Matches:
        """The newest (or oldest) first; by relevance people's before machines', who get what is left of the time."""
        from ..search.filters import people_and_machines
        from ..search.modes import stopped

        if order != "relevance":
            oldest = order == "oldest"
            return self.provider.search_text(pattern, mode, where, messages, page, oldest=oldest, deadline=deadline)
        until = time.monotonic() + deadline
        people, machines = people_and_machines(where)
        found = self.provider.search_text(pattern, mode, people, messages, page, deadline=deadline)
        # Without machines all messages would be walked to find none of theirs.
        if found.notices or len(found.hits) == page.limit or not self.provider.count_sessions(machines):
            return found
        rest = _after(page, found.total)
        left = until - time.monotonic()
        if left <= 0:
            return replace(found, notices=(stopped(deadline),))
        more = self.provider.search_text(pattern, mode, machines, messages, rest, deadline=left)
        notices = (stopped(deadline),) if more.notices else ()
        return replace(found, hits=[*found.hits, *more.hits], total=found.total + more.total, notices=notices)

    # --- hits ---

    def _hits(self, found: Matches, shown: Shown) -> Iterator[SearchHit]:
        if not found.hits:
            return
        around = self.provider.surroundings([match.message for match in found.hits])
        for match, near in zip(found.hits, around, strict=True):
            message = match.message
            lines = (near.before, context_line(message), near.after)
            yield {
                "id": message["id"],
                "session_id": message["session_id"],
                "role": message["role"],
                "snippet": shown(message),
                "timestamp": message["timestamp"],
                "tool_name": message["tool_name"],
                **_facts(near.session or {"source": "", "started_at": message["timestamp"]}),
                "context": [_cut(line) for line in lines if line is not None],
                "score": match.score,
                "matched": "message",
            }


def _positive(deadline: float) -> float:
    if isinstance(deadline, bool) or not isinstance(deadline, int | float) or not 0 < deadline <= LONGEST_DEADLINE:
        raise Invalid(f"deadline must be a number of seconds above 0 and up to {LONGEST_DEADLINE}, not {deadline!r}")
    return deadline


def _chosen(
    where: Filter | None,
    sources: Sequence[str] | None,
    exclude: Sequence[str] | None,
    session_id: str | None,
    chat_id: str | None,
    user_id: str | None,
    tags: Sequence[str],
) -> Filter:
    """What the single wishes say, on top of a whole filter if one is given."""
    for name, value in (("session_id", session_id), ("chat_id", chat_id), ("user_id", user_id)):
        check_text(value, name)
    wishes: dict[str, object] = {
        "ids": None if session_id is None else (session_id,),
        "sources": None if sources is None else check_texts(sources, "source_filter"),
        "exclude_sources": check_texts(exclude, "exclude_sources") or None,
        "chat_id": chat_id,
        "user_id": user_id,
        "tags": check_texts(tags, "tags") or None,
    }
    given = {name: wish for name, wish in wishes.items() if wish is not None}
    if not given:
        return check_filter(where, _EVERYTHING)
    return replace(check_filter(where), **given)


def _times(since: float | None, until: float | None) -> tuple[float | None, float | None]:
    return (
        None if since is None else check_time(since, "since"),
        None if until is None else check_time(until, "until"),
    )


def _after(page: Page, first: int) -> Page:
    """What is left of a page that so many hits begin."""
    if not first:
        return page
    left = max(0, first - page.offset)
    return Page(None if page.limit is None else max(0, page.limit - left), max(0, page.offset - first))


def _word_snippet(query: Query) -> Shown:
    from ..search.snippet import row_snippet

    return lambda message: row_snippet(message, query.node)


def _facts(session: SessionRow) -> SearchHit:
    return {
        "source": session.get("source", ""),
        "model": session.get("model"),
        "session_started": session.get("started_at", 0.0),
        "title": session.get("title"),
    }


def _cut(line: ContextLine) -> ContextLine:
    return {"role": line["role"], "content": line["content"][:CONTEXT_LENGTH]}
