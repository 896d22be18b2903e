"""Rows of older code have no position: give them one, in the order of their ids."""

from __future__ import annotations

from typing import Any

from .. import ledger
from .driver import Tx
from .escape import unescape
from .rows import MESSAGE_LIST, stored_message

ADRIFT = f"""
    SELECT {MESSAGE_LIST}
      FROM messages
     WHERE session_id = :session_id
       AND seq IS NULL
     ORDER BY id
     LIMIT :limit
"""
ADRIFT_SESSIONS = """
    SELECT DISTINCT session_id
      FROM messages
     WHERE seq IS NULL
     ORDER BY session_id
     LIMIT :limit
"""
ADOPT = """
    UPDATE messages
       SET seq = :seq, term = :term
     WHERE id = :id
"""
LEDGER = """
    SELECT last_seq, ledger
      FROM sessions
     WHERE id = :session_id
    {for_update}
"""
SETTLE = """
    UPDATE sessions
       SET ledger = :ledger,
           last_seq = :last_seq,
           last_active = {greatest}(COALESCE(last_active, :last_active), :last_active),
           last_message_id = {greatest}(COALESCE(last_message_id, 0), :last_message_id)
     WHERE id = :session_id
"""
UNRELATED = """
    SELECT c.id, c.parent_session_id, p.end_reason = 'compression' AND c.started_at >= p.ended_at
      FROM sessions c
      JOIN sessions p ON p.id = c.parent_session_id
     WHERE c.relation = 'root'
       AND c.parent_session_id IS NOT NULL
     ORDER BY c.started_at, c.id
"""
CONTINUED = """
    SELECT id
      FROM sessions
     WHERE parent_session_id = :id
       AND relation = 'compression'
"""
RELATE = """
    UPDATE sessions
       SET relation = :relation
     WHERE id = :id
"""
BATCH = 2000


def adopt(tx: Tx, session_id: str) -> int:
    """Give positions to rows of one session that have none, at most a batch; returns how many."""
    adrift = [stored_message(row) for row in tx.rows(ADRIFT, {"session_id": session_id, "limit": BATCH})]
    found = tx.row(LEDGER, {"session_id": session_id})
    if not adrift or found is None:
        return 0
    last_seq, total = found
    for seq, row in enumerate(adrift, start=last_seq + 1):
        term = ledger.term(ledger.digest(row), seq)
        tx.run(ADOPT, {"id": row["id"], "seq": seq, "term": term})
        total = (total + term) & ledger.MASK
    tx.run(SETTLE, _settled(session_id, adrift, last_seq + len(adrift), total))
    return len(adrift)


def _settled(session_id: str, rows: list[dict[str, Any]], last_seq: int, total: int) -> dict[str, Any]:
    # Older code stored what it was given; a time that is none must not stop the others.
    times = [row["timestamp"] for row in rows if isinstance(row["timestamp"], int | float)]
    return {
        "session_id": session_id,
        "ledger": total,
        "last_seq": last_seq,
        "last_active": max(times, default=0.0),
        "last_message_id": rows[-1]["id"],
    }


def adopt_all(tx: Tx, session_id: str) -> None:
    while adopt(tx, session_id):
        pass


def relate(tx: Tx) -> int:
    """Say what children of older code are to their parents: the first after a compression goes on, others help."""
    found = tx.rows(UNRELATED)
    for child, parent, follows in found:
        goes_on = follows and tx.row(CONTINUED, {"id": unescape(parent)}) is None
        tx.run(RELATE, {"id": unescape(child), "relation": "compression" if goes_on else "subagent"})
    return len(found)


def adrift_sessions(tx: Tx, limit: int = 100) -> list[str]:
    return [unescape(row[0]) for row in tx.rows(ADRIFT_SESSIONS, {"limit": limit})]
