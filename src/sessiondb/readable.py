"""Reading a session of a damaged store: past the rows that cannot be read."""

from __future__ import annotations

from .errors import Corrupt
from .moving import PART_ROWS, Part
from .provider import SessionDBProvider

UNREADABLE = (Corrupt, UnicodeError)


def read_past(
    source: SessionDBProvider, session_id: str, after: int, limit: int = PART_ROWS
) -> tuple[Part | None, list[int]]:
    """The next part after a position, and the positions before it that cannot be read; no part: none of it can."""
    try:
        return source.read_part(session_id, after, limit), []
    except UNREADABLE:
        pass
    last = next((entry.last_seq for entry in source.catalogue() if entry.id == session_id), after)
    lost: list[int] = []
    for seq in range(after, last + 1):
        try:
            part = source.read_part(session_id, seq, 1)
        except UNREADABLE:
            lost.append(seq + 1)
        else:
            # A gap looks like a loss until the next row is found.
            first = part.rows[0]["seq"] if part and part.rows else last + 1
            return part, [position for position in lost if position < first]
    return None, lost
