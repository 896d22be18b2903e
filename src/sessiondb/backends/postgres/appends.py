"""The usual append as one statement: position, ledger, message and words; one round trip, durable when it returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import ledger
from ...models import Draft
from ...sql.appends import VALUES
from .index.vectors import vectors

_COLUMNS = ", ".join(VALUES)
_MARKS = ", ".join(f":{name}" for name in VALUES)
_TERM = f"(CAST(:high AS BIGINT) * (last_seq + 1) + CAST(:low AS BIGINT)) & {ledger.MASK}"

# The id is drawn while the session's row is ours: within a session ids grow as positions do.
# No row: no such session, or rows of older code wait for a position.
PLACE = f"""
    WITH counted AS (
        UPDATE sessions
           SET ledger = (ledger + ({_TERM})) & {ledger.MASK},
               last_seq = last_seq + 1,
               message_count = message_count + 1,
               last_active = GREATEST(COALESCE(last_active, :timestamp), :timestamp),
               last_message_id = {{next_message_id}}
         WHERE id = :session_id
           AND NOT EXISTS (SELECT 1 FROM messages WHERE session_id = :session_id AND seq IS NULL)
        RETURNING last_message_id, last_seq
    ), placed AS (
        INSERT INTO messages (id, session_id, {_COLUMNS}, seq, term, active)
        SELECT last_message_id, :session_id, {_MARKS}, last_seq,
               (CAST(:high AS BIGINT) * last_seq + CAST(:low AS BIGINT)) & {ledger.MASK}, 1
          FROM counted
        RETURNING id
    )"""
INDEX_ONE = """, indexed AS (
        INSERT INTO search_tokens (message_id, chunk, chunks, words, tsv)
        SELECT id, 0, 1, :words, CAST(:vector AS TSVECTOR)
          FROM placed
    )"""
INDEX_MANY = """, indexed AS (
        INSERT INTO search_tokens (message_id, chunk, chunks, words, tsv)
        SELECT p.id, d.chunk - 1, :chunks, :words, CAST(d.tsv AS TSVECTOR)
          FROM placed p, UNNEST(CAST(:vectors AS TEXT[])) WITH ORDINALITY AS d (tsv, chunk)
    )"""
ID = """
    SELECT id
      FROM placed
"""
APPEND_UNINDEXED = PLACE + ID
APPEND_ONE = PLACE + INDEX_ONE + ID
APPEND_MANY = PLACE + INDEX_MANY + ID


def is_single(draft: Draft) -> bool:
    """Whether a message touches nothing but its row, its words and its session's row; it may have a key."""
    return not (draft.calls or draft.media) and draft.values["tool_call_id"] is None and draft.seq is None


def statement(session_id: str, draft: Draft) -> tuple[str, Mapping[str, Any]]:
    """The statement that appends a message, with its parameters; analysis happens here, outside any lock."""
    found, length = vectors(draft.values)
    high, low = draft.digest >> 31, draft.digest & ledger.LOW
    params = {**draft.values, "session_id": session_id, "high": high, "low": low, "words": length}
    if not found:
        del params["words"]
        return APPEND_UNINDEXED, params
    if len(found) == 1:
        return APPEND_ONE, params | {"vector": found[0]}
    return APPEND_MANY, params | {"vectors": found, "chunks": len(found)}
