"""`session_search` within what one person may see: the same arguments, asked of a scope instead of the whole store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import NotFound
from ..models import MessageRow
from ..tools import entries
from ..tools.budget import fitted
from ..tools.request import Request, understood

if TYPE_CHECKING:
    from ..gateway.scope import Scope

Answer = dict[str, Any]
_HITS, _MESSAGES = 60, 40


def scoped_search(scope: Scope, arguments: Mapping[str, Any], current: str, now: float) -> Answer:
    """Raises Invalid for arguments it cannot take, NotFound for what is not there or not theirs."""
    request = understood(arguments, now)
    if request.session_id is not None:
        return _read(scope, request)
    answer = _found(scope, request, current) if request.box else _recent(scope, request, current)
    if request.summarize:
        answer["summaries"] = "not made in chats; read a conversation by its session_id"
    return answer


def _read(scope: Scope, request: Request) -> Answer:
    """A session, of a long one its end; or the messages around one of it."""
    session = scope.find(request.session_id or "")
    head: Answer = {"success": True, "mode": "read", **_named(session), "message_count": session["message_count"]}
    anchors: dict[int, str] = {}
    if request.around_message_id is None:
        rows = scope.messages(session["id"], limit=_MESSAGES, newest=True)
    else:
        rows = _around(scope, session["id"], request.around_message_id, request.window)
        head |= {"mode": "scroll", "around_message_id": request.around_message_id}
        anchors[request.around_message_id] = ""

    def draw(detail: entries.Detail) -> Answer:
        return {**head, "messages": entries.messages(rows, detail.text, anchors)}

    return fitted(draw, request.max_chars, "messages")


def _around(scope: Scope, session_id: str, message_id: int, window: int) -> list[MessageRow]:
    rows = scope.messages(session_id)
    at = next((number for number, row in enumerate(rows) if row["id"] == message_id), None)
    if at is None:
        raise NotFound(f"no message {message_id} in session {session_id!r}")
    return rows[max(0, at - window) : at + window + 1]


def _found(scope: Scope, request: Request, current: str) -> Answer:
    within = scope.narrowed(request.sources, request.tags)
    hits = within.recall(request.box, _HITS, request.messages)
    if request.sort != "relevance":
        hits.sort(key=lambda hit: (hit["timestamp"], hit["id"]), reverse=request.sort == "newest")
    best: dict[str, Any] = {}
    for hit in hits:
        # The present conversation is before the model anyway.
        if hit["session_id"] != current and len(best) < request.limit:
            best.setdefault(hit["session_id"], hit)
    shown = [(within.get(hit["session_id"]), hit, _near(within, hit, request.window)) for hit in best.values()]

    def draw(detail: entries.Detail) -> Answer:
        results = [_result(session, hit, rows, detail) for session, hit, rows in shown]
        return {"success": True, "mode": "discover", "results": results}

    answer = fitted(draw, request.max_chars, "results")
    return {**answer, "count": len(answer["results"])}


def _near(scope: Scope, hit: Mapping[str, Any], window: int) -> list[MessageRow]:
    try:
        return _around(scope, hit["session_id"], hit["id"], window)
    except NotFound:
        # Taken back since it was indexed.
        return []


def _result(
    session: Mapping[str, Any], hit: Mapping[str, Any], rows: list[MessageRow], detail: entries.Detail
) -> Answer:
    at = next((number for number, row in enumerate(rows) if row["id"] == hit["id"]), 0)
    near = rows[max(0, at - detail.window) : at + detail.window + 1]
    return {
        **_named(session),
        "message_id": hit["id"],
        "role": hit["role"],
        "snippet": hit["snippet"],
        "messages": entries.messages(near, detail.text, {hit["id"]: hit["snippet"]}),
    }


def _recent(scope: Scope, request: Request, current: str) -> Answer:
    rows = scope.narrowed(request.sources, request.tags).sessions(limit=_MESSAGES)
    since, until = request.since or 0.0, request.until or float("inf")
    wanted = [row for row in rows if row["id"] != current and since <= _active(row) < until][: request.limit]
    recent = [{**_named(row), "preview": row["preview"]} for row in wanted]
    return {"success": True, "mode": "recent", "results": recent, "count": len(recent)}


def _active(session: Mapping[str, Any]) -> float:
    return float(session["last_active"] or session["started_at"])


def _named(session: Mapping[str, Any]) -> Answer:
    return {
        "session_id": session["id"],
        "title": session["title"],
        "source": session["source"],
        "last_active": entries.when(_active(session)),
    }
