"""How SQLite spells the fragments of the SQL core."""

from __future__ import annotations

from ...sql.dialect import NEWEST_PENDING_CALL, Dialect
from ...sql.escape import MARK

SQLITE = Dialect(
    "sqlite",
    {
        "for_update": "",
        "greatest": "max",
        "substr": "substr",
        "length": "length",
        "position": "instr",
        "ascii_lower": "lower",
        "last_inserted": "last_insert_rowid()",
        "messages_first": "CROSS JOIN",
        # The highest id ever given: a deleted message's id does not come back.
        "newest_message_id": "COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0)",
        "newest_pending_call": NEWEST_PENDING_CALL,
        "no_tag_conflict": "ON CONFLICT DO NOTHING",
        "page": "LIMIT :limit OFFSET :offset",
        # As bytes: substr() of text ends at a NUL, and a first prompt may be megabytes long.
        # A reference to a large text is read whole: it becomes the text.
        "head": (
            f"CASE WHEN m.content_type = 'json' OR (m.content >= '{MARK}#' AND m.content < '{MARK}$') THEN m.content"
            " ELSE substr(CAST(m.content AS BLOB), 1, 512) END"
        ),
    },
)
