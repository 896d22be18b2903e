"""From a query to conversations: each once, by its root, with the best hit in its place; without one, the recent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING, Any

from ..models import MessageRow
from ..search import rank
from ..search.query import narrow, parse
from ..search.recall import HITS, RecalledSession, group, ranked, recent
from . import entries
from .budget import fitted
from .request import Request

if TYPE_CHECKING:
    from ..db import SessionDB

# Some of them may be of the present conversation.
MANY_HITS = 4 * HITS

Answer = dict[str, Any]
Hit = Mapping[str, Any]


def discover(db: SessionDB, request: Request, current: str | None) -> Answer:
    if not request.box:
        return _recent(db, request, current)
    all_hits, notices = _hits(db, request, current)
    hits = _enough(db, all_hits, request.limit)
    found = group(db, hits, limit=request.limit, window=request.window, windows=1, exclude_session=current)
    results = [_Result(db, conversation, request) for conversation in found]
    head: Answer = {"success": True, "mode": "discover", "query": request.query}
    if notices:
        head["notices"] = list(notices)
    if not results:
        return {**head, "results": [], "count": 0, "sessions_searched": 0, "message": _nothing(db, request)}
    searched = len({hit["session_id"] for hit in hits})

    def draw(detail: entries.Detail) -> Answer:
        shown = [result.drawn(detail) for result in results]
        return {**head, "results": shown, "count": len(shown), "sessions_searched": searched}

    answer = fitted(draw, request.max_chars, "results")
    return {**answer, "count": len(answer["results"])}


def _nothing(db: SessionDB, request: Request) -> str:
    tried = db.search_messages(request.box, where=request.sessions, limit=1)
    suggestion = f"; did you mean {tried.did_you_mean!r}?" if tried.did_you_mean else ""
    reason = f" ({'; '.join(tried.notices)})" if tried.notices else ""
    return f"nothing was found{reason}{suggestion}; other words for it may have been used"


def _enough(db: SessionDB, hits: Iterable[Hit], limit: int) -> list[Hit]:
    """The first hits, as many as are shown of so many conversations; the rest need no snippet."""
    taken: list[Hit] = []
    roots: dict[str, str] = {}
    for hit in hits:
        taken.append(hit)
        if hit["session_id"] not in roots:
            roots[hit["session_id"]] = db.lineage_root(hit["session_id"])
        if len(taken) >= 4 * limit and len(set(roots.values())) > limit:
            break
    return taken


def _hits(db: SessionDB, request: Request, current: str | None) -> tuple[Iterable[Hit], Sequence[str]]:
    """Messages that hold all words, then titles that do, then the best of the others; machines' sessions last."""
    where, messages = request.sessions, request.messages
    titled = _titles(db, request)
    query = parse(request.box)
    if query.lists or request.sort != "relevance":
        found = db.search_messages(
            request.box, role_filter=request.roles or None, order=request.sort,
            limit=HITS if current is None else MANY_HITS, since=request.since, until=request.until, where=where,
        )  # fmt: skip
        if query.lists:
            return found, found.notices
        if found or titled:
            return _by_time([*found, *titled], request.sort), found.notices
    # Both are in this order, so that no more of them need be made than are taken.
    hits = merge(ranked(db, request.box, HITS, where, messages, current), titled, key=_standing)
    return hits if request.sort == "relevance" else _by_time(list(hits), request.sort), query.notices


def _standing(hit: Hit) -> tuple[bool, bool]:
    return rank.automated(hit["source"]), bool(hit.get("partial"))


def _by_time(hits: Sequence[Hit], sort: str) -> list[Hit]:
    return sorted(hits, key=lambda hit: (hit["timestamp"], hit["id"]), reverse=sort != "oldest")


def _titles(db: SessionDB, request: Request) -> list[Hit]:
    """Sessions whose title holds all words, as hits of their first message; none when some messages only are wanted."""
    query = parse(request.box)
    if query.node is None or query.looks_at_rows:
        return []
    where, messages = narrow(query, request.sessions, request.messages, db._clock())
    if messages.roles:
        return []
    rows = db.provider.search_titles(query, where)[:HITS]
    hits = [hit for row in rows for hit in _title_hit(db, row, messages.since, messages.until)]
    return sorted(hits, key=_standing)


def _title_hit(db: SessionDB, session: Any, since: float | None, until: float | None) -> Iterator[Hit]:
    active = session.get("last_active") or session["started_at"]
    first = db.get_messages(session["id"], limit=1)
    if first and (since is None or active >= since) and (until is None or session["started_at"] < until):
        yield {
            "id": first[0]["id"],
            "session_id": session["id"],
            "role": "title",
            "timestamp": active,
            "snippet": session["title"],
            "source": session["source"],
            "matched": "title",
        }


def _recent(db: SessionDB, request: Request, current: str | None) -> Answer:
    found = recent(
        db, request.limit, exclude_session=current, where=request.sessions, since=request.since, until=request.until
    )
    results = [_session(db, each) | {"preview": each["preview"]} for each in found]
    message = "recent conversations; give a query to search, a session_id to read one"
    return {"success": True, "mode": "recent", "results": results, "count": len(results), "message": message}


def _session(db: SessionDB, found: RecalledSession) -> Answer:
    root = db.get_session(found["session_id"])
    facts = {
        "session_id": found["session_id"],
        "title": found["title"],
        "source": found["source"],
        "model": root["model"] if root else None,
        "when": entries.when(found["started_at"]),
        "last_active": entries.when(found["last_active"]),
        "message_count": found["message_count"],
    }
    if found["latest_session_id"] != found["session_id"]:
        facts["latest_session_id"] = found["latest_session_id"]
    return facts


@dataclass(slots=True)
class _Result:
    """A conversation with its hits."""

    db: SessionDB
    found: RecalledSession
    request: Request

    def drawn(self, detail: entries.Detail) -> Answer:
        best, *others = self.found["hits"]
        window = self._window(best, detail)
        return {
            **_session(self.db, self.found),
            **({"title_matched": True} if any(hit.get("matched") == "title" for hit in self.found["hits"]) else {}),
            "hit": self._hit(best),
            "messages": entries.messages(window, detail.text, {best["id"]: best["snippet"]}),
            **self._bookends(best["session_id"], window, detail),
            **self._others([hit for hit in others if hit["id"] != best["id"]][: detail.hits]),
        }

    def _hit(self, hit: Hit) -> Answer:
        shown = {
            "session_id": hit["session_id"],
            "message_id": hit["id"],
            "role": hit["role"],
            "when": entries.when(hit["timestamp"]),
            "snippet": hit["snippet"],
            "matched": hit.get("matched", "message"),
        }
        return shown | {"partial": True} if hit.get("partial") else shown

    def _others(self, hits: Sequence[Hit]) -> Answer:
        return {"more_hits": [self._hit(hit) for hit in hits]} if hits else {}

    def _window(self, hit: Hit, detail: entries.Detail) -> list[MessageRow]:
        rows = next(window["messages"] for window in self.found["windows"] if hit["id"] in window["hit_ids"])
        at = next(number for number, row in enumerate(rows) if row["id"] == hit["id"])
        size = min(detail.window, self.request.window)
        return rows[max(0, at - size) : at + size + 1]

    def _bookends(self, session_id: str, window: Sequence[MessageRow], detail: entries.Detail) -> Answer:
        """How the session began and ended, where the window does not show it."""
        if not detail.bookends:
            return {}
        shown = {row["id"] for row in window}
        begin = self.db.get_messages(session_id, limit=detail.bookends)
        end = self.db.get_messages(session_id, limit=detail.bookends, newest=True)
        begin = [row for row in begin if row["id"] not in shown]
        end = [row for row in end if row["id"] not in shown | {row["id"] for row in begin}]
        named = (("begins", begin), ("ends", end))
        return {name: entries.messages(rows, min(detail.text, 500)) for name, rows in named if rows}
