"""Many messages at once: COPY, with ids drawn beforehand so that their words can go along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...sql.appends import VALUES
from ...sql.driver import Params
from ...sql.escape import escape
from ...sql.loads import ADD_CALL, ADD_MEDIA, CALL, MEDIA
from ...sql.nul import SURROGATES_AND_NUL
from .index.vectors import vectors

if TYPE_CHECKING:
    from .connection import PostgresTx

# Below this many rows the extra round trips cost more than they save.
ENOUGH = 50
IDS = """
    SELECT {next_message_id}
      FROM generate_series(1, :count)
"""
_COLUMNS = ("session_id", *VALUES, "seq", "term", "active")
# Written as an insertion: the dialect qualifies the name of the table there.
_MESSAGES = f"INTO messages (id, {', '.join(_COLUMNS)})"
_WORDS = "INTO search_tokens (message_id, chunk, chunks, words, tsv)"
# What hangs on messages; nobody asks for its ids.
ATTACHED = {ADD_CALL: ("tool_calls", CALL), ADD_MEDIA: ("media_refs", MEDIA)}


def is_safe(text: str) -> bool:
    return "\0" not in text if text.isascii() else not SURROGATES_AND_NUL.search(text)


def copied(tx: PostgresTx, rows: Sequence[Params]) -> list[int]:
    """Store messages and their words; their ids, which grow as the rows do."""
    ids = sorted(int(row[0]) for row in tx.rows(IDS, {"count": len(rows)}))
    with tx.connection.cursor() as cursor:
        with cursor.copy(_statement(tx, _MESSAGES)) as copy:
            for message_id, row in zip(ids, rows, strict=True):
                copy.write_row([message_id, *_values(row, _COLUMNS)])
        with cursor.copy(_statement(tx, _WORDS)) as copy:
            for message_id, row in zip(ids, rows, strict=True):
                found, length = vectors(row)
                for number, vector in enumerate(found):
                    copy.write_row((message_id, number, len(found), length, vector))
    return ids


def copy_attached(tx: PostgresTx, sql: str, rows: Sequence[Params]) -> None:
    table, columns = ATTACHED[sql]
    into = f"INTO {table} ({', '.join(columns)})"
    with tx.connection.cursor() as cursor, cursor.copy(_statement(tx, into)) as copy:
        for row in rows:
            copy.write_row(_values(row, columns))


def _statement(tx: PostgresTx, into: str) -> bytes:
    return f"COPY {tx.dialect.text(into).removeprefix('INTO ')} FROM STDIN".encode()


def _values(row: Params, columns: Sequence[str]) -> list[Any]:
    values = [row[name] for name in columns]
    if is_safe("".join([value for value in values if value.__class__ is str])):
        return values
    return [escape(value, SURROGATES_AND_NUL) if value.__class__ is str else value for value in values]
