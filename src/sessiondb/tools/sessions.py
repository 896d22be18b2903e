"""The smaller tools: list sessions, read one page by page, name one, what was decided and is open, keep a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import Conflict
from ..models import Filter, MessageFilter, Page, SessionRow
from ..search.extracts import extracts
from ..titles import clean
from . import entries
from .cursors import pack, unpack
from .naming import found_session
from .request import understood

if TYPE_CHECKING:
    from ..db import SessionDB

Answer = dict[str, Any]

PAGE = 20
MOST = 100
TEXT = 4000


def session_list(db: SessionDB, *, limit: int = PAGE, cursor: str | None = None, **filters: Any) -> Answer:
    """Sessions, the last active first; filters are source, since, until and tags of `session_search`."""
    request = understood(filters, db._clock())
    offset = unpack("list", cursor) or 0
    where = Filter(
        sources=request.sources or None, tags=request.tags, archived=False, children=False, tips=True,
        active_since=request.since, active_until=request.until,
    )  # fmt: skip
    size = _within(limit)
    rows = db.provider.list_sessions(where, Page(size + 1, offset), "activity")
    answer: Answer = {"sessions": [_session(row) | {"preview": row["preview"]} for row in rows[:size]]}
    return answer | {"next_cursor": pack("list", offset + size) if len(rows) > size else None}


def session_read(db: SessionDB, session_id: str, *, limit: int = PAGE, cursor: str | None = None) -> Answer:
    """The messages of a session from the beginning, page by page."""
    session = found_session(db, session_id)
    size, after = _within(limit), unpack("read", cursor)
    rows = db.get_messages(session["id"], after=after, limit=size + 1)
    following = pack("read", rows[size - 1]["seq"] or 0) if len(rows) > size else None
    return {"session": _session(session), "messages": entries.messages(rows[:size], TEXT), "next_cursor": following}


def session_title(db: SessionDB, session_id: str, title: str | None = None) -> Answer:
    """The title of a session, or a new one for it; a title that a person chose stays. Raises Conflict, TitleTaken."""
    session = found_session(db, session_id)
    if title is not None:
        if session["title"] and session["title_source"] == "user":
            raise Conflict(f"session {session['id']!r} has a title that a person chose; it stays")
        db.provider.set_title(session["id"], clean(title), "agent")
        session = found_session(db, session["id"])
    return {"session_id": session["id"], "title": session["title"], "title_source": session["title_source"]}


def session_decisions(
    db: SessionDB, *, kinds: list[str] | None = None, limit: int = PAGE, cursor: str | None = None, **filters: Any
) -> Answer:
    """What was decided and what is open (or other kinds), the newest first."""
    request = understood(filters, db._clock())
    found = extracts(
        db,
        tuple(kinds or ("decision", "todo")),
        where=request.sessions,
        messages=MessageFilter(request.roles, request.since, request.until),
        limit=_within(limit),
        before=unpack("decisions", cursor),
    )
    items = [{**item, "when": entries.when(item["timestamp"])} for item in found.items]
    for item in items:
        del item["timestamp"]
    following = None if found.next_before is None else pack("decisions", found.next_before)
    return {"items": items, "next_cursor": following, "notices": list(found.notices)}


def session_append(db: SessionDB, session_id: str, role: str, content: str, message_key: str | None = None) -> Answer:
    """Keep a message in a session that exists."""
    session = found_session(db, session_id)
    return {
        "session_id": session["id"],
        "message_id": db.append_message(session["id"], role, content, message_key=message_key),
    }


def _within(limit: int) -> int:
    return max(1, min(MOST, limit))


def _session(row: SessionRow) -> Answer:
    return {
        "session_id": row["id"],
        "title": row["title"],
        "source": row["source"],
        "model": row["model"],
        "started": entries.when(row["started_at"]),
        "last_active": entries.when(row["last_active"]),
        "message_count": row["message_count"],
        "cwd": row["cwd"],
    }
