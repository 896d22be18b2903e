"""Making the words of all messages again, after the analysis of text has changed."""

from __future__ import annotations

from collections.abc import Callable

from ....search import analyze
from ....sql import rows
from ....sql.driver import Tx
from .vectors import index_rows

BATCH = 500
ANALYSER = """
    SELECT MAX(analyser)
      FROM schema_version
"""
NEWEST = """
    SELECT {newest_message_id}
"""
# Locked, so that nobody deletes a message while its words are being made.
NEXT = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE id > :after
     ORDER BY id
     LIMIT {BATCH}
       FOR KEY SHARE
"""
FORGET = """
    DELETE FROM search_tokens
     WHERE message_id > :after
       AND message_id <= :last
"""
DONE = """
    UPDATE schema_version
       SET analyser = :analyser
"""


def is_stale(tx: Tx) -> bool:
    """Whether the words were made by another version of the analysis."""
    return tx.row(ANALYSER) != (analyze.VERSION,)


def rebuild(write: Callable[[Callable[[Tx], int | None]], int | None], tick: Callable[[int, int], None] | None) -> None:
    """Batch by batch, each a short transaction; until all are done searches read the messages themselves."""
    after: int | None = 0
    total = write(lambda tx: int((tx.row(NEWEST) or (0,))[0])) or 0
    while after is not None:
        start = after
        after = write(lambda tx: _batch(tx, start))  # noqa: B023  # runs before the next turn
        if tick is not None:
            tick(total if after is None else min(after, total), total)
    write(lambda tx: tx.run(DONE, {"analyser": analyze.VERSION}))


def _batch(tx: Tx, after: int) -> int | None:
    found = [rows.stored_message(row) for row in tx.rows(NEXT, {"after": after})]
    if not found:
        return None
    last: int = found[-1]["id"]
    tx.run(FORGET, {"after": after, "last": last})
    index_rows(tx, ((row["id"], row) for row in found))
    return last
