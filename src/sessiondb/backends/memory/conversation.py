"""Messages into a session and out of it, with its counters and its ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ... import ledger
from ...errors import Invalid
from ...models import MESSAGE_COLUMNS, Draft
from ...rows import summary
from .tables import Row, Session, Tables


def known_keys(session: Session, drafts: Iterable[Draft]) -> dict[str | None, int]:
    """The ids of the messages that have the drafts' keys already."""
    keys = {draft.values["message_key"] for draft in drafts} - {None}
    rows = session.messages if keys else []
    return {row["message_key"]: row["id"] for row in rows if row["message_key"] in keys}


def unseen(drafts: Iterable[Draft], known: Iterable[str | None] = ()) -> list[Draft]:
    """The drafts to be stored: those without a key, and the first of each key that is not known."""
    seen = set(known)
    fresh = []
    for draft in drafts:
        key = draft.values["message_key"]
        if key is None or key not in seen:
            fresh.append(draft)
            seen.add(key)
    return fresh


def check_positions(session_id: str, drafts: Iterable[Draft], last_seq: int) -> None:
    """Raise Invalid when a given position is not above the one before it."""
    for draft in drafts:
        seq = last_seq + 1 if draft.seq is None else draft.seq
        if seq <= last_seq:
            raise Invalid(f"position {seq} of session {session_id!r} is not above {last_seq}; leave seq out to append")
        last_seq = seq


def store(tables: Tables, session: Session, drafts: Sequence[Draft]) -> list[int]:
    """Put checked drafts at the end; the id of each, or of the message that has its key."""
    ids = known_keys(session, drafts)
    answer = []
    for draft in drafts:
        key = draft.values["message_key"]
        if key is None or key not in ids:
            ids[key] = _add(tables, session, draft)
        answer.append(ids[key])
    return answer


def wipe(session: Session) -> None:
    """Take all messages out; positions once used stay used."""
    terms = [row["term"] for row in session.messages]
    session.values["ledger"] = ledger.minus(session.values["ledger"], terms)
    session.values.update(message_count=0, tool_call_count=0, last_active=None)
    session.messages.clear()
    session.tool_calls.clear()
    session.media_refs.clear()


def rewrite(tables: Tables, session: Session, row: Row, draft: Draft) -> None:
    """Put a draft in the place of a message, at its position; the row is new, what was hidden stays hidden."""
    values = session.values
    calls = sum(call["message_id"] == row["id"] for call in session.tool_calls)
    values["message_count"] -= 1 if row["active"] else 0
    values["tool_call_count"] -= calls if row["active"] else 0
    values["ledger"] = ledger.minus(values["ledger"], [row["term"]])
    session.tool_calls = [call for call in session.tool_calls if call["message_id"] != row["id"]]
    session.media_refs = [each for each in session.media_refs if each["message_id"] != row["id"]]
    last_seq, last_active = values["last_seq"], values["last_active"]
    at = session.messages.index(row)
    draft.seq, draft.active = row["seq"], 1 if row["active"] and draft.active else 0
    _add(tables, session, draft)
    session.messages[at] = session.messages.pop()
    values["last_seq"], values["last_active"] = last_seq, last_active
    _answer_again(session, session.messages[at], draft)


def _answer_again(session: Session, message: Row, draft: Draft) -> None:
    """Give the calls that the message makes or answers the result that is there for them."""
    wanted = {call["call_id"] for call in draft.calls} | {message["tool_call_id"]}
    results = {each["tool_call_id"]: each for each in session.messages if each["role"] == "tool"}
    for call in session.tool_calls:
        if call["call_id"] is not None and call["call_id"] in wanted and call["call_id"] in results:
            result = results[call["call_id"]]
            call["status"], call["completed_at"] = "completed", result["timestamp"]
            call["result_summary"] = summary(result["content"], result["content_type"])


def _add(tables: Tables, session: Session, draft: Draft) -> int:
    seq: int = session.values["last_seq"] + 1 if draft.seq is None else draft.seq
    row: Row = {
        **dict.fromkeys(MESSAGE_COLUMNS),
        **draft.values,
        "id": tables.next_id("messages"),
        "session_id": session.id,
        "seq": seq,
        "term": ledger.term(draft.digest, seq),
        "active": draft.active,
    }
    session.messages.append(row)
    _count(session.values, row, len(draft.calls))
    _add_calls(tables, session, row, draft)
    _add_media(tables, session, row, draft)
    return int(row["id"])


def _count(values: Row, message: Row, calls: int) -> None:
    if message["active"]:
        values["message_count"] += 1
        values["tool_call_count"] += calls
    active, timestamp = values["last_active"], message["timestamp"]
    values["last_active"] = timestamp if active is None else max(active, timestamp)
    values["last_message_id"] = message["id"]
    values["last_seq"] = message["seq"]
    values["ledger"] = ledger.total((values["ledger"], message["term"]))


def _add_calls(tables: Tables, session: Session, message: Row, draft: Draft) -> None:
    for call in draft.calls:
        row: Row = {"id": tables.next_id("tool_calls"), "session_id": session.id, "message_id": message["id"], **call}
        row.update(result_summary=None, status="pending", created_at=message["timestamp"], completed_at=None)
        session.tool_calls.append(row)
    if message["role"] == "tool" and message["tool_call_id"] is not None:
        _complete(session, message)


def _complete(session: Session, result: Row) -> None:
    """Some models number their calls anew in every turn, so a result belongs to the newest call that waits."""
    for call in reversed(session.tool_calls):
        if call["call_id"] == result["tool_call_id"] and call["status"] == "pending":
            call["status"] = "completed"
            call["result_summary"] = summary(result["content"], result["content_type"])
            call["completed_at"] = result["timestamp"]
            return


def _add_media(tables: Tables, session: Session, message: Row, draft: Draft) -> None:
    for media in draft.media:
        owner = {"id": tables.next_id("media_refs"), "session_id": session.id, "message_id": message["id"]}
        session.media_refs.append({**owner, **media})
