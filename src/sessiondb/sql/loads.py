"""Parts of sessions into a database: as few statements as a batch allows, however many sessions are in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ledger
from ..models import MEDIA_REF_COLUMNS, SESSION_COLUMNS, TOKEN_COLUMNS, TOOL_CALL_COLUMNS
from ..moving import Part, Row, moved_on, taken
from ..values import NamedTuple
from .adopt import LEDGER
from .appends import INSERT_PLACED
from .driver import Tx
from .escape import unescape
from .filters import marks
from .sessions import ADD_TAG, CREATE, next_title

CALL = [name for name in TOOL_CALL_COLUMNS if name != "id"]
MEDIA = [name for name in MEDIA_REF_COLUMNS if name != "id"]
ADD_CALL = f"""
    INSERT INTO tool_calls ({", ".join(CALL)})
    VALUES ({", ".join(f":{name}" for name in CALL)})
"""
ADD_MEDIA = f"""
    INSERT INTO media_refs ({", ".join(MEDIA)})
    VALUES ({", ".join(f":{name}" for name in MEDIA)})
"""
# On MySQL the assignments happen from left to right; none here reads another.
SETTLE = """
    UPDATE sessions
       SET ledger = :ledger,
           last_seq = :last_seq,
           message_count = :message_count,
           tool_call_count = :tool_call_count,
           last_active = :last_active,
           last_message_id = :last_message_id
     WHERE id = :id
"""
COUNTED = """
    SELECT message_count, tool_call_count, last_active, last_message_id
      FROM sessions
     WHERE id = :id
"""
NEWEST_MESSAGE = "SELECT {newest_message_id}"
KNOWN = """
    SELECT id
      FROM sessions
     WHERE id IN (%s)
"""
HELD = """
    SELECT title
      FROM sessions
     WHERE title IN (%s)
"""
_FACTS = tuple(
    name for name in SESSION_COLUMNS
    if name not in ("id", "parent_session_id", "relation", "title", "title_source", "last_seq", "ledger",
                    "message_count", "tool_call_count", "last_active", "last_message_id")
)  # fmt: skip
SET_FACTS = f"""
    UPDATE sessions
       SET {", ".join(f"{name} = :{name}" for name in _FACTS)}
     WHERE id = :id
"""
_NAMED_AT_ONCE = 500


class Before(NamedTuple):
    """What a session is before its part is added."""

    ledger: int
    messages: int
    calls: int
    last_active: float | None
    last_message_id: int | None


def loaded(tx: Tx, parts: Sequence[Part]) -> dict[str, str]:
    """Add parts of different sessions; the titles that had to change, by session."""
    renamed: dict[str, str] = {}
    known = _created(tx, [part for part in parts if part.new], renamed)
    known |= {part.id: _continued(tx, part) for part in parts if not part.new}
    stored = [{**row, "session_id": part.id} for part in parts for row in part.rows]
    ids = iter(tx.insert_many(INSERT_PLACED, stored) if stored else [])
    placed = [(part, {row["seq"]: next(ids) for row in part.rows}) for part in parts]
    _attach(tx, placed)
    newest, settled = 0, []
    for part, by_position in placed:
        # A session without messages was as active as the last message before it.
        newest = max(newest, *by_position.values(), 0)
        settled.append(_settled(part, known[part.id], newest))
    tx.run_many(SETTLE, settled)
    return renamed


def _created(tx: Tx, parts: Sequence[Part], renamed: dict[str, str]) -> dict[str, Before]:
    if not parts:
        return {}
    for session_id in _found(tx, KNOWN, [part.id for part in parts]):
        raise taken(session_id)
    found = tx.row(NEWEST_MESSAGE)
    newest = found[0] if found else 0
    titles = [title for part in parts if (title := part.session["title"]) is not None]
    if len(set(titles)) == len(titles) and not _found(tx, HELD, titles):
        tx.run_many(CREATE, [_values(part, part.session["title"], newest) for part in parts])
    else:
        # A title that changes may take that of another: one after another.
        for part in parts:
            tx.run(CREATE, _values(part, _free_title(tx, part, renamed), newest))
    tags = [{"id": part.id, "tag": tag} for part in parts for tag in part.tags]
    if tags:
        tx.run_many(ADD_TAG, tags)
    return {part.id: Before(0, 0, 0, part.session["last_active"], newest) for part in parts}


def _found(tx: Tx, sql: str, wanted: Sequence[str]) -> list[str]:
    found: list[str] = []
    for start in range(0, len(wanted), _NAMED_AT_ONCE):
        names, params = marks("name", wanted[start : start + _NAMED_AT_ONCE])
        found += [unescape(row[0]) for row in tx.rows(sql % names, params)]
    return found


def _values(part: Part, title: str | None, newest: int) -> Row:
    return {
        **part.session,
        **{name: part.session[name] or 0 for name in TOKEN_COLUMNS},
        "relation": part.session["relation"] or "root",
        "parent_session_id": None,
        "title": title,
        "message_count": 0,
        "tool_call_count": 0,
        "last_seq": 0,
        "ledger": 0,
        "last_message_id": newest,
    }


def _free_title(tx: Tx, part: Part, renamed: dict[str, str]) -> str | None:
    title: str | None = part.session["title"]
    if title is None or not _found(tx, HELD, [title]):
        return title
    renamed[part.id] = next_title(tx, title)
    return renamed[part.id]


def _continued(tx: Tx, part: Part) -> Before:
    """Lock the session and see that it is where the part goes on."""
    found = tx.row(LEDGER, {"session_id": part.id})
    if found is None or found[0] != part.after:
        raise moved_on(part.id, None if found is None else found[0], part.after)
    if part.complete:
        tx.run(SET_FACTS, part.session)
    return Before(int(found[1]), *(tx.row(COUNTED, {"id": part.id}) or (0, 0, None, 0)))


def _attach(tx: Tx, placed: Sequence[tuple[Part, dict[int, int]]]) -> None:
    """What hangs on the messages, to the ids that they have got."""
    calls = [_owned(row, part.id, ids) for part, ids in placed for row in part.calls]
    media = [_owned(row, part.id, ids) for part, ids in placed for row in part.media]
    for sql, found in ((ADD_CALL, calls), (ADD_MEDIA, media)):
        if found:
            tx.insert_many(sql, found)


def _owned(row: Row, session_id: str, ids: dict[int, int]) -> Row:
    return {**row, "session_id": session_id, "message_id": ids[row["seq"]]}


def _settled(part: Part, before: Before, newest: int) -> Row:
    """The counters of a session that has this much of itself, or all."""
    active = {row["seq"] for row in part.rows if row["active"]}
    times: list[Any] = [row["timestamp"] for row in part.rows] + [before.last_active]
    return {
        "id": part.id,
        "ledger": ledger.total([before.ledger, *(row["term"] for row in part.rows)]),
        "last_seq": part.last_seq,
        "message_count": before.messages + len(active),
        "tool_call_count": part.session["tool_call_count"]
        if part.complete
        else before.calls + sum(call["seq"] in active for call in part.calls),
        "last_active": part.session["last_active"]
        if part.complete
        else max((time for time in times if time is not None), default=None),
        "last_message_id": newest if part.rows else max(before.last_message_id or 0, newest),
    }
