"""Fewer segments: every search looks into each segment of the index, and a large import leaves a dozen.

FTS5 merges small segments by itself. All of them are made one, in small steps, when the index has grown by half since
that was done last: so no message is merged more than a few times. Pages that this empties are given back to the disk.
"""

from __future__ import annotations

import apsw

from . import catchup, files, seal

# Fewer are not worth it.
LEAST_ROWS = 10_000
STEP_PAGES = 256

MERGED = "SELECT COALESCE((SELECT value FROM state WHERE name = 'merged'), '0')"
# Negative: segments of all sizes, not only those of one level.
MERGE = "INSERT INTO messages_fts (messages_fts, rank) VALUES ('merge', ?)"
NOTE = "INSERT INTO state (name, value) VALUES ('merged', ?) ON CONFLICT DO UPDATE SET value = excluded.value"
# What a merge that found nothing to do changes.
NOTHING = 2


def is_due(connection: apsw.Connection) -> bool:
    merged = int(str(connection.execute(MERGED).fetchall()[0][0]))
    return catchup.position(connection).last_id - merged >= max(LEAST_ROWS, merged // 2)


def merge_step(connection: apsw.Connection, path: str) -> bool:
    """Merge a little; whether there is more to do."""
    connection.execute("BEGIN EXCLUSIVE")
    try:
        if not seal.intact(path):
            raise files.Unusable("somebody else wrote to it")
        before = connection.total_changes()
        connection.execute(MERGE, (-STEP_PAGES,))
        more = connection.total_changes() - before >= NOTHING or _given_back(connection)
        if not more:
            connection.execute(NOTE, (str(catchup.position(connection).last_id),))
        with seal.broken(path):
            connection.execute("COMMIT")
        return more
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _given_back(connection: apsw.Connection) -> bool:
    """Shorten the file by some of its empty pages; whether there were any. Older files cannot be shortened."""
    if not connection.pragma("auto_vacuum") or not connection.pragma("freelist_count"):
        return False
    connection.execute(f"PRAGMA incremental_vacuum({STEP_PAGES})").fetchall()
    return True
