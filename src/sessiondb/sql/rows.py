"""Tuples of the database to rows, escapes undone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, filterfalse
from operator import itemgetter
from typing import Any

from ..models import MESSAGE_COLUMNS, SESSION_COLUMNS, MessageRow, SessionRow
from ..rows import message_row, session_row
from .driver import Row, Tx
from .escape import MARK, unescape
from .filters import marks

SESSION_LIST = ", ".join(SESSION_COLUMNS)
MESSAGE_LIST = ", ".join(MESSAGE_COLUMNS)


_TEXTS = (
    "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "finish_reason", "reasoning",
    "reasoning_details", "codex_reasoning_items", "message_key", "content_type", "provider", "model", "metadata",
)  # fmt: skip
_texts = itemgetter(*map(MESSAGE_COLUMNS.index, _TEXTS))
_ID_BATCH = 500


def prefixed(columns: Iterable[str], alias: str) -> str:
    return ", ".join(f"{alias}.{name}" for name in columns)


def named(columns: Sequence[str], row: Row) -> dict[str, Any]:
    return {
        name: unescape(value) if value.__class__ is str else value for name, value in zip(columns, row, strict=False)
    }


def session(row: Row) -> SessionRow:
    return session_row(named(SESSION_COLUMNS, row))


def sessions(rows: Iterable[Row]) -> list[SessionRow]:
    return [session(row) for row in rows]


def stored_message(row: Row) -> dict[str, Any]:
    """A message's columns as stored, JSON as text."""
    # Most texts are NULL, most others ASCII. Conversations are read whole, so this is worth a look.
    for value in filter(None, _texts(row)):
        if value.__class__ is str and not value.isascii() and MARK in value:
            return named(MESSAGE_COLUMNS, row)
    return dict(zip(MESSAGE_COLUMNS, row))  # noqa: B905


# How many messages are asked for before it is known how long they are.
AT_FIRST = 20
_AT_MOST = 1000
_CHARACTERS = 4 * 1024 * 1024


def length(row: Mapping[str, Any]) -> int:
    return sum([len(value) for value in row.values() if value.__class__ is str])


def fitting(last: Sequence[Mapping[str, Any]]) -> int:
    """How many messages like these fit into memory together; a conversation is read as many at a time."""
    return max(1, min(_AT_MOST, _CHARACTERS * len(last) // max(1, sum(map(length, last)))))


def message(row: Row) -> MessageRow:
    return message_row(stored_message(row))


def messages(rows: Sequence[Row]) -> list[MessageRow]:
    if _has_escapes(rows):
        return list(map(message, rows))
    return [message_row(dict(zip(MESSAGE_COLUMNS, row))) for row in rows]  # noqa: B905


def _has_escapes(rows: Sequence[Row]) -> bool:
    """Whether some text may be escaped; told without a step of ours for each row."""
    texts = filter(None, chain.from_iterable(map(_texts, rows)))
    try:
        return any(MARK in text for text in filterfalse(str.isascii, texts))
    except TypeError:
        # Another program put something else where texts belong.
        return True


def with_ids(tx: Tx, ids: Sequence[int]) -> Iterator[MessageRow]:
    """The messages that have these ids, in no order."""
    for start in range(0, len(ids), _ID_BATCH):
        names, params = marks("id", ids[start : start + _ID_BATCH])
        yield from messages(tx.rows(f"SELECT {MESSAGE_LIST} FROM messages WHERE id IN ({names})", params))
