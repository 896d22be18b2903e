"""What stands around found messages, read in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from ..models import ContextLine, MessageRow, SessionRow, Surroundings
from ..provider import SessionDBProvider
from ..rows import stored_text
from .driver import Driver, Tx, read
from .escape import unescape
from .filters import marks
from .rows import named

FACTS = ("id", "source", "model", "title", "started_at", "last_seq")
SESSIONS = f"""
    SELECT {", ".join(FACTS)}
      FROM sessions
     WHERE id IN (%s)
"""
LINE = "role, content, content_type"
# Nearly always the neighbours have the next positions; all are asked for at once.
BESIDE = f"""
    SELECT session_id, seq, {LINE}
      FROM messages
     WHERE (session_id, seq) IN (%s)
       AND active = 1
"""
BEFORE = f"""
    SELECT {LINE}
      FROM messages
     WHERE session_id = :session_id
       AND seq < :seq
       AND active = 1
     ORDER BY seq DESC
     {{page}}
"""
AFTER = f"""
    SELECT {LINE}
      FROM messages
     WHERE session_id = :session_id
       AND seq > :seq
       AND active = 1
     ORDER BY seq
     {{page}}
"""
BATCH = 200

Place = tuple[str, int]
Lines = dict[Place, ContextLine]


class SurroundingPrimitives(SessionDBProvider):
    driver: Driver

    @read
    def surroundings(self, tx: Tx, messages: Sequence[MessageRow]) -> list[Surroundings]:
        sessions = _sessions(tx, list(dict.fromkeys(message["session_id"] for message in messages)))
        places = [(message["session_id"], message["seq"] or 0) for message in messages]
        beside = _beside(tx, [(name, seq + step) for name, seq in places for step in (-1, 1)])
        return [_around(tx, place, sessions.get(place[0], {}), beside) for place in places]


def _around(tx: Tx, place: Place, session: SessionRow, beside: Lines) -> Surroundings:
    name, seq = place
    before, after = beside.get((name, seq - 1)), beside.get((name, seq + 1))
    if before is None and seq > 1:
        before = _next(tx, BEFORE, place)
    if after is None and seq < session.get("last_seq", 0):
        after = _next(tx, AFTER, place)
    return Surroundings(session, before, after)


def _beside(tx: Tx, places: Sequence[Place]) -> Lines:
    found: Lines = {}
    for start in range(0, len(places), BATCH):
        some = places[start : start + BATCH]
        names, params = marks("place", [part for place in some for part in place])
        each = iter(names.split(", "))
        pairs = ", ".join(f"({name}, {next(each)})" for name in each)
        for name, seq, *line in tx.rows(BESIDE % pairs, params):
            found[unescape(name), seq] = _line(*line)
    return found


def _next(tx: Tx, sql: str, place: Place) -> ContextLine | None:
    found = tx.row(sql, {"session_id": place[0], "seq": place[1], "limit": 1, "offset": 0})
    return None if found is None else _line(*found)


def _line(role: str, content: str | None, content_type: str | None) -> ContextLine:
    text = None if content is None else unescape(content)
    return {"role": unescape(role), "content": stored_text(text, content_type)}


def _sessions(tx: Tx, ids: Sequence[str]) -> dict[str, SessionRow]:
    found: dict[str, SessionRow] = {}
    for start in range(0, len(ids), BATCH):
        names, params = marks("id", ids[start : start + BATCH])
        for row in tx.rows(SESSIONS % names, params):
            session: SessionRow = named(FACTS, row)  # type: ignore[assignment]
            found[session["id"]] = session
    return found
