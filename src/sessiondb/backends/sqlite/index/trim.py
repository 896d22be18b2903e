"""Forgetting logged changes that the index has read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....sql.driver import Tx

if TYPE_CHECKING:
    from ..engine import Engine

# So many stay: an index that is put back from a copy can still be brought up to date.
MARGIN = 10_000
# Fewer are not worth a write.
WORTH = 1000
BATCH = 1000
DEADLINE = 1.0

OLDEST = """
    SELECT MIN(id)
      FROM message_changes
"""
DELETE = """
    DELETE FROM message_changes
     WHERE id < :beyond
"""


def trimmed(engine: Engine, last_change: int) -> int:
    """Remove what was read, but for the margin, in small writes; returns how many there were."""
    found = engine.read(lambda tx: tx.row(OLDEST))
    oldest = found[0] if found else None
    end = last_change - MARGIN + 1
    if oldest is None or end - oldest < WORTH:
        return 0
    for beyond in (*range(oldest + BATCH, end, BATCH), end):
        engine.write(_deletion(beyond), DEADLINE)
    return int(end - oldest)


def _deletion(beyond: int) -> Callable[[Tx], int]:
    return lambda tx: tx.run(DELETE, {"beyond": beyond})
