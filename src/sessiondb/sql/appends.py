"""How messages get their place: the one path by which rows enter `messages`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .. import ledger
from ..errors import Conflict, Invalid, NotFound
from ..models import Draft
from ..rows import summary
from .adopt import LEDGER, adopt_all
from .driver import Tx
from .escape import unescape
from .filters import marks

VALUES = (
    "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "token_count", "finish_reason",
    "reasoning", "reasoning_details", "codex_reasoning_items", "message_key", "content_type", "provider", "model",
    "input_tokens", "output_tokens", "injected", "metadata",
)  # fmt: skip
_COLUMNS = ", ".join(VALUES)
_MARKS = ", ".join(f":{name}" for name in VALUES)

# The usual append: two statements, the position computed in them. No row: no such session.
INSERT_NEXT = f"""
    INSERT INTO messages (session_id, {_COLUMNS}, seq, term, active)
    SELECT id, {_MARKS}, last_seq + 1, (:high * (last_seq + 1) + :low) & {ledger.MASK}, 1
      FROM sessions
     WHERE id = :session_id
    {{for_update}}
"""
# No row here, after the one above: rows of older code are waiting for a position before ours.
COUNT_NEXT = f"""
    UPDATE sessions
       SET ledger = (ledger + ((:high * (last_seq + 1) + :low) & {ledger.MASK})) & {ledger.MASK},
           last_seq = last_seq + 1,
           message_count = message_count + 1,
           tool_call_count = tool_call_count + :calls,
           last_active = {{greatest}}(COALESCE(last_active, :timestamp), :timestamp),
           last_message_id = {{last_inserted}}
     WHERE id = :session_id
       AND NOT EXISTS (SELECT 1 FROM messages WHERE session_id = :session_id AND seq IS NULL)
"""
INSERT_PLACED = f"""
    INSERT INTO messages (session_id, {_COLUMNS}, seq, term, active)
    VALUES (:session_id, {_MARKS}, :seq, :term, :active)
"""
COUNT_PLACED = """
    UPDATE sessions
       SET ledger = :ledger,
           last_seq = :last_seq,
           message_count = message_count + :messages,
           tool_call_count = tool_call_count + :calls,
           last_active = {greatest}(COALESCE(last_active, :last_active), :last_active),
           last_message_id = :last_message_id
     WHERE id = :session_id
       AND NOT EXISTS (SELECT 1 FROM messages WHERE session_id = :session_id AND seq IS NULL)
"""
RAISE_LAST_SEQ = """
    UPDATE sessions
       SET last_seq = :last_seq
     WHERE id = :session_id
       AND last_seq < :last_seq
"""
KNOWN_KEYS = """
    SELECT message_key, id
      FROM messages
     WHERE session_id = :session_id
       AND message_key IN (%s)
"""
INSERT_CALL = """
    INSERT INTO tool_calls (session_id, message_id, call_id, tool_name, arguments, result_summary, status,
                            created_at, completed_at)
    VALUES (:session_id, :message_id, :call_id, :tool_name, :arguments, :result_summary, :status,
            :created_at, :completed_at)
"""
COMPLETE_CALL = """
    UPDATE tool_calls
       SET status = :status, result_summary = :result_summary, completed_at = :completed_at
     WHERE {newest_pending_call}
"""
INSERT_MEDIA = """
    INSERT INTO media_refs (session_id, message_id, kind, path, mime_type, sha256, size, metadata)
    VALUES (:session_id, :message_id, :kind, :path, :mime_type, :sha256, :size, :metadata)
"""


class Adrift(Exception):
    """Rows of older code wait for a position; roll back, adopt them, run again."""


def no_session(session_id: str | None) -> NotFound:
    return NotFound(f"no session {session_id!r} to append to; create_session or ensure_session makes one")


def append_one(tx: Tx, session_id: str | None, draft: Draft) -> int:
    """The short path for a message without a key; raises Adrift when older rows must come first."""
    values = draft.values
    values["session_id"] = session_id
    values["high"] = draft.digest >> 31
    values["low"] = draft.digest & ledger.LOW
    values["calls"] = len(draft.calls)
    if session_id is None:
        raise no_session(session_id)
    plain = draft.is_ascii and session_id.isascii()
    message_id = tx.insert_counted(INSERT_NEXT, COUNT_NEXT, values, plain=plain)
    if message_id is None:
        # Or there is no such session; the long way tells.
        raise Adrift
    if draft.calls or draft.media or values["tool_call_id"] is not None:
        _attach(tx, session_id, message_id, draft)
    return message_id


def append_after_adoption(tx: Tx, session_id: str, drafts: Sequence[Draft], expected_seq: int | None) -> list[int]:
    """The long way: rows of older code get their positions first."""
    adopt_all(tx, session_id)
    return append_many(tx, session_id, drafts, expected_seq)


def append_many(tx: Tx, session_id: str, drafts: Sequence[Draft], expected_seq: int | None) -> list[int]:
    found = tx.row(LEDGER, {"session_id": session_id})
    if found is None:
        raise no_session(session_id)
    last_seq, total = found
    keys = keys_of(drafts)
    known = known_keys(tx, session_id, keys) if keys else {}
    unknown = fresh(drafts, known) if keys else drafts
    if not unknown:
        return [known[draft.values["message_key"]] for draft in drafts]
    if expected_seq is not None and expected_seq != last_seq:
        raise Conflict(
            f"session {session_id!r} is at position {last_seq}, not {expected_seq}: "
            "somebody appended meanwhile; read on and try again"
        )
    ids = place(tx, session_id, last_seq, total, unknown)
    return ids_of(drafts, ids, known) if keys else ids


def ids_of(
    drafts: Sequence[Draft], stored: Sequence[int], known: Mapping[str, int] = MappingProxyType({})
) -> list[int]:
    """An id for every draft: of the next stored row, or of the row that has its key already."""
    keyed = dict(known)
    following = iter(stored)
    ids: list[int] = []
    for draft in drafts:
        key = draft.values["message_key"]
        if key is None or key not in keyed:
            ids.append(next(following))
            if key is not None:
                keyed[key] = ids[-1]
        else:
            ids.append(keyed[key])
    return ids


def keys_of(drafts: Sequence[Draft]) -> list[str]:
    return [key for draft in drafts if (key := draft.values["message_key"]) is not None]


def fresh(drafts: Sequence[Draft], known: Iterable[str]) -> Sequence[Draft]:
    """The drafts to store: no known key, and of a key given twice the first."""
    if not keys_of(drafts):
        return drafts
    seen = set(known)
    unknown = []
    for draft in drafts:
        key = draft.values["message_key"]
        if key is None or key not in seen:
            unknown.append(draft)
            seen.add(key)
    return unknown


def known_keys(tx: Tx, session_id: str, keys: Sequence[str]) -> dict[str, int]:
    known: dict[str, int] = {}
    for start in range(0, len(keys), 500):
        names, params = marks("key", keys[start : start + 500])
        for key, message_id in tx.rows(KNOWN_KEYS % names, params | {"session_id": session_id}):
            known[unescape(key)] = message_id
    return known


def place(tx: Tx, session_id: str, last_seq: int, total: int, drafts: Sequence[Draft], at_least: int = 0) -> list[int]:
    """Store drafts after `last_seq`, or at the positions they bring, and settle the session's counters."""
    positions = _positions(drafts, last_seq)
    terms = ledger.terms([draft.digest for draft in drafts], positions)
    plain = [draft.is_ascii for draft in drafts] if session_id.isascii() else ()
    for draft, seq, term in zip(drafts, positions, terms, strict=True):
        values = draft.values
        values["session_id"] = session_id
        values["seq"] = seq
        values["term"] = term
        values["active"] = draft.active
    ids = tx.insert_many(INSERT_PLACED, [draft.values for draft in drafts], plain=plain) if drafts else []
    if drafts and not tx.run(COUNT_PLACED, _counted(session_id, drafts, ledger.total((total, *terms)), ids[-1])):
        raise Adrift
    if at_least > (positions[-1] if positions else last_seq):
        tx.run(RAISE_LAST_SEQ, {"session_id": session_id, "last_seq": at_least})
    _attach_all(tx, session_id, ids, drafts)
    return ids


def _positions(drafts: Sequence[Draft], last_seq: int) -> Sequence[int]:
    if [draft.seq for draft in drafts].count(None) == len(drafts):
        return range(last_seq + 1, last_seq + 1 + len(drafts))
    return [last_seq := _position(draft, last_seq) for draft in drafts]


def _position(draft: Draft, last_seq: int) -> int:
    if draft.seq is None:
        return last_seq + 1
    if not isinstance(draft.seq, int) or not last_seq < draft.seq < 1 << 31:
        raise Invalid(f"position {draft.seq!r} does not follow {last_seq}; positions grow and are never used twice")
    return draft.seq


def _counted(session_id: str, drafts: Sequence[Draft], total: int, last_id: int) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "ledger": total,
        "last_seq": drafts[-1].values["seq"],
        "messages": sum([draft.active for draft in drafts]),
        "calls": sum([len(draft.calls) for draft in drafts if draft.active]),
        "last_active": max([draft.values["timestamp"] for draft in drafts]),
        "last_message_id": last_id,
    }


def _attach(tx: Tx, session_id: str, message_id: int, draft: Draft) -> None:
    """What `_attach_all` does, for one message."""
    values = draft.values
    place_of = {"session_id": session_id, "message_id": message_id}
    for call in draft.calls:
        tx.run(INSERT_CALL, {**call, **place_of, **_UNANSWERED, "created_at": values["timestamp"]})
    for reference in draft.media:
        tx.run(INSERT_MEDIA, {**reference, **place_of})
    if values["tool_call_id"] is not None and values["role"] == "tool":
        _complete(tx, session_id, values)


def _attach_all(tx: Tx, session_id: str, ids: Sequence[int], drafts: Sequence[Draft]) -> None:
    """Tool calls with their results, and media; a result that comes with its call is stored in the call's row."""
    calls: list[dict[str, Any]] = []
    pending: dict[str, list[dict[str, Any]]] = {}
    for message_id, draft in zip(ids, drafts, strict=True):
        if not draft.calls and not draft.media and draft.values["tool_call_id"] is None:
            continue
        if draft.calls or draft.media:
            place_of = {"session_id": session_id, "message_id": message_id}
            for call in draft.calls:
                calls.append({**call, **place_of, **_UNANSWERED, "created_at": draft.values["timestamp"]})
                pending.setdefault(call["call_id"], []).append(calls[-1])
            for reference in draft.media:
                tx.run(INSERT_MEDIA, {**reference, **place_of})
        values = draft.values
        if values["tool_call_id"] is not None and values["role"] == "tool":
            open_calls = pending.get(values["tool_call_id"])
            if open_calls:
                open_calls.pop().update(_answer(values))
            else:
                _complete(tx, session_id, values)
    if calls:
        tx.insert_many(INSERT_CALL, calls)


_UNANSWERED = {"status": "pending", "result_summary": None, "completed_at": None}


def _answer(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "status": "completed",
        "result_summary": summary(values["content"], values["content_type"]),
        "completed_at": values["timestamp"],
    }


def _complete(tx: Tx, session_id: str, values: Mapping[str, Any]) -> None:
    tx.run(COMPLETE_CALL, {"session_id": session_id, "call_id": values["tool_call_id"], **_answer(values)})
