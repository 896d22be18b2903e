"""What imports need: messages merged by their keys, sessions found by where they come from, files already read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ledger
from ..drafts import latest
from ..models import IMPORT_FILE_COLUMNS, Draft, ImportFileRow, Merged, SessionRow
from ..provider import SessionDBProvider
from ..rows import summary
from . import appends, rows
from .adopt import LEDGER, adopt_all
from .driver import Driver, Tx, read, write
from .escape import unescape
from .filters import marks

KEYED = """
    SELECT message_key, id, seq, term, active
      FROM messages
     WHERE session_id = :session_id
       AND message_key IN (%s)
"""
REMOVE = "DELETE FROM %s WHERE %s = :id"
HIDE = """
    UPDATE messages
       SET active = 0
     WHERE id = :id
"""
CALLS_OF = """
    SELECT COUNT(*)
      FROM tool_calls
     WHERE session_id = :session_id
       AND message_id = :id
"""
RESETTLE = """
    UPDATE sessions
       SET ledger = :ledger,
           message_count = message_count + :messages,
           tool_call_count = tool_call_count + :calls,
           last_message_id = {greatest}(COALESCE(last_message_id, 0), :last_message_id)
     WHERE id = :session_id
"""
RESULT = """
    SELECT content, content_type, timestamp
      FROM messages
     WHERE session_id = :session_id
       AND tool_call_id = :call_id
       AND role = 'tool'
     ORDER BY seq DESC
     LIMIT 1
"""
ANSWER = """
    UPDATE tool_calls
       SET status = 'completed', result_summary = :result_summary, completed_at = :completed_at
     WHERE session_id = :session_id
       AND call_id = :call_id
"""
NATIVE = f"""
    SELECT {rows.SESSION_LIST}
      FROM sessions
     WHERE origin = :origin
       AND native_id = :native_id
"""
_FILE_LIST = ", ".join(IMPORT_FILE_COLUMNS)
FILES = f"""
    SELECT {_FILE_LIST}
      FROM import_files
"""
DROP_FILE = """
    DELETE FROM import_files
     WHERE path = :path
"""
ADD_FILE = f"""
    INSERT INTO import_files ({_FILE_LIST})
    VALUES ({", ".join(f":{name}" for name in IMPORT_FILE_COLUMNS)})
"""


class Stored:
    """A row that has one of the keys."""

    __slots__ = ("active", "id", "seq", "term")

    def __init__(self, row: tuple[Any, ...]) -> None:
        _, self.id, self.seq, self.term, self.active = row

    def differs(self, draft: Draft) -> bool:
        return bool(ledger.term(draft.digest, self.seq) != self.term)


class MergePrimitives(SessionDBProvider):
    driver: Driver

    @write
    def merge(self, tx: Tx, session_id: str, messages: Sequence[Draft], hidden: Sequence[str] = ()) -> Merged:
        messages = latest(messages, hidden)
        adopt_all(tx, session_id)
        found = tx.row(LEDGER, {"session_id": session_id})
        if found is None:
            raise appends.no_session(session_id)
        last_seq, total = found
        keys = [key for draft in messages if (key := draft.values["message_key"]) is not None]
        stored = _stored(tx, session_id, [*keys, *hidden])
        gone = {key for key in hidden if key in stored and stored[key].active}
        gone |= {key for draft in messages if not draft.active and (key := draft.values["message_key"]) in stored}
        hidden_now = [stored[key] for key in sorted(gone) if stored[key].active]
        changed = [draft for draft in messages if _is_changed(draft, stored)]
        total = rewrite(tx, session_id, total, [(stored[draft.values["message_key"]], draft) for draft in changed])
        rewritten = {stored[draft.values["message_key"]].id for draft in changed}
        _hide(tx, session_id, [row for row in hidden_now if row.id not in rewritten])
        fresh = appends.fresh(messages, stored)
        appends.place(tx, session_id, last_seq, total, fresh)
        return Merged(len(fresh), len(rewritten | {row.id for row in hidden_now}))

    @read
    def find_native(self, tx: Tx, origin: str, native_id: str) -> SessionRow | None:
        found = tx.row(NATIVE, {"origin": origin, "native_id": native_id})
        return None if found is None else rows.session(found)

    @read
    def list_import_files(self, tx: Tx) -> list[ImportFileRow]:
        found: list[Any] = [rows.named(IMPORT_FILE_COLUMNS, row) for row in tx.rows(FILES)]
        # Sorted here: databases order text by their own rules.
        return sorted(found, key=lambda row: str(row["path"]))

    @write
    def put_import_files(self, tx: Tx, files: Sequence[ImportFileRow], *, forget: Sequence[str] = ()) -> None:
        for path in (*forget, *(row["path"] for row in files)):
            tx.run(DROP_FILE, {"path": path})
        for row in files:
            tx.run(ADD_FILE, row)


def _stored(tx: Tx, session_id: str, keys: Sequence[str]) -> dict[str, Stored]:
    found: dict[str, Stored] = {}
    for start in range(0, len(keys), 500):
        names, params = marks("key", keys[start : start + 500])
        for row in tx.rows(KEYED % names, params | {"session_id": session_id}):
            found[unescape(row[0])] = Stored(row)
    return found


def _is_changed(draft: Draft, stored: dict[str, Stored]) -> bool:
    row = stored.get(draft.values["message_key"])
    return row is not None and row.differs(draft)


def rewrite(
    tx: Tx, session_id: str, total: int, pairs: Sequence[tuple[Stored, Draft]], *, as_activity: bool = True
) -> int:
    """Put drafts in the place of rows, at their positions; the ledger after it.

    A rewritten message is a new row: every engine's search learns of new rows, none watches old ones.
    """
    if not pairs:
        return total
    messages = calls = 0
    placed: list[dict[str, Any]] = []
    for row, draft in pairs:
        # What was hidden here stays hidden.
        draft.active = 1 if row.active and draft.active else 0
        if row.active:
            messages -= 1
            calls -= _calls_of(tx, session_id, row.id)
        _remove(tx, row.id)
        term = ledger.term(draft.digest, row.seq)
        total = ledger.minus(total, [row.term or 0])
        total = (total + term) & ledger.MASK
        placed.append({**draft.values, "session_id": session_id, "seq": row.seq, "term": term, "active": draft.active})
    ids = tx.insert_many(appends.INSERT_PLACED, placed)
    for message_id, (_, draft) in zip(ids, pairs, strict=True):
        if draft.active:
            messages += 1
            calls += len(draft.calls)
        _attach(tx, session_id, message_id, draft)
    _resettle(tx, session_id, total, messages, calls, ids[-1] if as_activity else 0)
    return total


def _attach(tx: Tx, session_id: str, message_id: int, draft: Draft) -> None:
    owner = {"session_id": session_id, "message_id": message_id}
    for call in draft.calls:
        unanswered = {"status": "pending", "result_summary": None, "completed_at": None}
        tx.run(appends.INSERT_CALL, {**call, **owner, **unanswered, "created_at": draft.values["timestamp"]})
        if call["call_id"] is not None:
            _answer(tx, session_id, call["call_id"])
    for reference in draft.media:
        tx.run(appends.INSERT_MEDIA, {**reference, **owner})
    if draft.values["role"] == "tool" and draft.values["tool_call_id"] is not None:
        _answer(tx, session_id, draft.values["tool_call_id"])


def _answer(tx: Tx, session_id: str, call_id: str) -> None:
    """Give a call the result that is there for it."""
    found = tx.row(RESULT, {"session_id": session_id, "call_id": call_id})
    if found is not None:
        content, content_type, timestamp = found
        text = summary(None if content is None else unescape(content), content_type)
        values = {"session_id": session_id, "call_id": call_id, "result_summary": text, "completed_at": timestamp}
        tx.run(ANSWER, values)


def _hide(tx: Tx, session_id: str, hidden: Sequence[Stored]) -> None:
    if not hidden:
        return
    calls = sum(_calls_of(tx, session_id, row.id) for row in hidden)
    for row in hidden:
        tx.run(HIDE, {"id": row.id})
    found = tx.row(LEDGER, {"session_id": session_id})
    _resettle(tx, session_id, found[1] if found else 0, -len(hidden), -calls, 0)


def _calls_of(tx: Tx, session_id: str, message_id: int) -> int:
    found = tx.row(CALLS_OF, {"session_id": session_id, "id": message_id})
    return int(found[0]) if found else 0


def _remove(tx: Tx, message_id: int) -> None:
    for table, column in (("tool_calls", "message_id"), ("media_refs", "message_id"), ("messages", "id")):
        tx.run(REMOVE % (table, column), {"id": message_id})


def _resettle(tx: Tx, session_id: str, total: int, messages: int, calls: int, last_id: int) -> None:
    tx.run(
        RESETTLE,
        {"session_id": session_id, "ledger": total, "messages": messages, "calls": calls, "last_message_id": last_id},
    )
