"""How PostgreSQL spells the fragments of the SQL core, in the tables of one schema."""

from __future__ import annotations

import re
from functools import cache, partial

from ...sql.dialect import NEWEST_PENDING_CALL, Dialect, parameter

TABLES = (
    "sessions", "messages", "tool_calls", "media_refs", "tags", "meta", "import_files", "gateway_bindings",
    "trash_sessions", "trash_messages", "trash_tool_calls", "trash_media_refs", "search_tokens", "schema_version",
)  # fmt: skip

_TABLE = re.compile(rf"\b(FROM|JOIN|INTO|UPDATE)(\s+)({'|'.join(TABLES)}|messages_id_seq)\b")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _finish(schema: str, sql: str) -> str:
    """Names qualified, so that no search_path is needed (a transaction pooler keeps none); parameters as psycopg's."""
    qualified = _TABLE.sub(lambda found: f"{found[1]}{found[2]}{quoted(schema)}.{found[3]}", sql)
    return parameter().sub(r"%(\1)s", qualified.replace("%", "%%"))


@cache
def dialect(schema: str) -> Dialect:
    sequence = f"{quoted(schema)}.messages_id_seq".replace("'", "''")
    return Dialect(
        "postgresql",
        {
            "for_update": "FOR UPDATE",
            "greatest": "GREATEST",
            "substr": "substr",
            "length": "length",
            "position": "strpos",
            # Of a column with the collation "C": only A to Z change.
            "ascii_lower": "lower",
            "last_inserted": "lastval()",
            "messages_first": "JOIN",
            "newest_message_id": "COALESCE((SELECT last_value FROM messages_id_seq WHERE is_called), 0)",
            "next_message_id": f"nextval('{sequence}')",
            "newest_pending_call": NEWEST_PENDING_CALL,
            "no_tag_conflict": "ON CONFLICT DO NOTHING",
            "page": "LIMIT NULLIF(:limit, -1) OFFSET :offset",
            "head": "CASE WHEN m.content_type = 'json' THEN m.content ELSE substr(m.content, 1, 512) END",
        },
        partial(_finish, schema),
    )
