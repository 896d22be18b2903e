"""How MySQL and MariaDB spell the fragments of the SQL core; one page for both."""

from __future__ import annotations

import re
import string

from ...sql.dialect import PENDING_CALL, Dialect, parameter

_ASCII_LOWER = re.compile(r"ASCII_LOWER\(([^)]*)\)")


def _finished(sql: str) -> str:
    """Named parameters in the driver's style."""
    sql = _ASCII_LOWER.sub(lambda found: _lowered(found[1]), sql)
    return parameter().sub(r"%(\1)s", sql.replace("%", "%%"))


def _lowered(expression: str) -> str:
    # LOWER() knows all of Unicode; the core's rule is ASCII's.
    for letter in string.ascii_uppercase:
        expression = f"REPLACE({expression}, '{letter}', '{letter.lower()}')"
    return expression


MYSQL = Dialect(
    "mysql",
    {
        "for_update": "FOR UPDATE",
        "greatest": "GREATEST",
        "substr": "SUBSTRING",
        "length": "CHAR_LENGTH",
        "position": "INSTR",
        "ascii_lower": "ASCII_LOWER",
        "last_inserted": "LAST_INSERT_ID()",
        "messages_first": "STRAIGHT_JOIN",
        # The highest id ever given: a deleted message's id does not come back.
        "newest_message_id": """COALESCE((SELECT AUTO_INCREMENT - 1
                                            FROM information_schema.tables
                                           WHERE table_schema = DATABASE() AND table_name = 'messages'), 0)""",
        # It may not read the table that it changes.
        "newest_pending_call": f"{PENDING_CALL} ORDER BY id DESC LIMIT 1",
        "no_tag_conflict": "ON DUPLICATE KEY UPDATE tag = tag",
        "page": "LIMIT :limit OFFSET :offset",
        "head": "CASE WHEN m.content_type = 'json' THEN m.content ELSE LEFT(m.content, 512) END",
    },
    _finished,
)
