"""Filters that few sessions pass: their messages are read, instead of asking of every match whose it is."""

from __future__ import annotations

from collections.abc import Iterator

from ....models import Filter, MessageFilter
from ....search.scan import LOOKED_AT
from ....sql.driver import Row
from ....sql.escape import unescape
from ....sql.filters import Where, sessions_where
from .snapshot import Snapshot

# In small stores the index is fast enough. More sessions, or more messages in them, are no few.
LARGE = 50_000
SESSIONS = 200

# Rows of older code do not tell their session that it was active.
ACTIVE = """
    (COALESCE(s.last_active >= :since, 1)
     OR s.id IN (SELECT session_id FROM messages INDEXED BY messages_adrift WHERE seq IS NULL))
"""
# Not all that pass are looked for, only whether they are more than a few.
PASSING = """
    SELECT s.id, s.last_seq
      FROM sessions s
     WHERE %s
     {page}
"""


def read(snapshot: Snapshot, where: Filter, messages: MessageFilter, conditions: Where) -> Iterator[Row] | None:
    """Rows as `Snapshot.unread` gives them, of all that pass the conditions; None where they are many."""
    if snapshot.newest < LARGE or (where == Filter() and messages.since is None):
        return None
    passing = sessions_where(where)
    if messages.since is not None:
        passing.add(ACTIVE, since=messages.since)
    page = {"limit": SESSIONS + 1, "offset": 0}
    found = snapshot.tx.rows(PASSING % passing.sql, {**passing.params, **page})
    if len(found) > SESSIONS or sum(last_seq or 0 for _, last_seq in found) > LOOKED_AT:
        return None
    return (row for session_id, _ in found for row in snapshot.of_session(unescape(session_id), conditions))
