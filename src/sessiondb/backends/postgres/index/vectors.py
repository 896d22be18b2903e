"""The words of a message as tsvectors.

A tsvector holds 1 MB, 16,383 positions and 255 places of one word: a long message has several, each beginning with the
last words of the one before, so that a phrase across the border is in one of them. Words of the text have the weight A,
words of tools and parts of identifiers none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....rows import message_row
from ....search.text import words
from ....sql import rows
from ....sql.driver import Params, Tx
from ....sql.escape import escape
from ....sql.nul import SURROGATES_AND_NUL

CHUNK = 3000
REPEATS = 255
OVERLAP = 64
_BATCH = 500
_BODY = [f"{place}A" for place in range(1, CHUNK + 1)]
_EXTRA = [str(place) for place in range(1, CHUNK + 1)]

INSERT = """
    INSERT INTO search_tokens (message_id, chunk, chunks, words, tsv)
    SELECT d.id, d.chunk, d.chunks, d.words, CAST(d.tsv AS TSVECTOR)
      FROM UNNEST(CAST(:ids AS BIGINT[]), CAST(:chunk AS INTEGER[]), CAST(:chunks AS INTEGER[]),
                  CAST(:words AS INTEGER[]), CAST(:vectors AS TEXT[])) AS d (id, chunk, chunks, words, tsv)
"""
OF_SESSION = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE session_id = :session_id
       AND id > :after
     ORDER BY id
     LIMIT {_BATCH}
"""


def vectors(row: Params) -> tuple[list[str], int]:
    """The tsvectors of a row as stored, as text, and how many words its text has."""
    needed = {name: row[name] for name in ("content", "content_type", "tool_calls", "tool_name", "metadata")}
    body, extra = words(message_row(needed))
    return chunked(body, extra), len(body)


def chunked(body: Sequence[str], extra: Sequence[str]) -> list[str]:
    # A place between the two: no phrase begins in one and ends in the other.
    told = [*body, "", *extra] if extra else body
    found, start = [], 0
    while start < len(told):
        end = _end(told, start)
        found.append(_vector(told[start:end], len(body) - start))
        if end == len(told):
            break
        start = end - OVERLAP
    # Megabytes of the same line are the same vector many times; once tells all there is to find.
    return list(dict.fromkeys(found))


def _end(told: Sequence[str], start: int) -> int:
    """Where a vector that begins at `start` must end."""
    end = min(start + CHUNK, len(told))
    if end - start <= REPEATS:
        return end
    times: dict[str, int] = {}
    for at in range(start, end):
        token = told[at]
        times[token] = times.get(token, 0) + 1
        if times[token] > REPEATS:
            return at
    return end


def _vector(told: Sequence[str], border: int) -> str:
    body = max(0, min(border, len(told)))
    places: dict[str, str] = {}
    for token, place in zip(told, (*_BODY[:body], *_EXTRA[body : len(told)]), strict=True):
        known = places.get(token)
        places[token] = place if known is None else f"{known},{place}"
    places.pop("", None)
    text = " ".join([f"'{token}':{found}" for token, found in places.items()])
    return text if text.isascii() else escape(text, SURROGATES_AND_NUL)


def lexeme(token: str) -> str:
    """A token as it is kept; analysis leaves no ASCII punctuation in it, so it needs no quoting."""
    return token if token.isascii() else escape(token, SURROGATES_AND_NUL)


def index_rows(tx: Tx, placed: Iterable[tuple[int, Params]]) -> None:
    """Keep the words of rows that were just stored."""
    entries: dict[str, list[Any]] = {name: [] for name in ("ids", "chunk", "chunks", "words", "vectors")}
    for message_id, row in placed:
        found, length = vectors(row)
        for number, vector in enumerate(found):
            for name, value in zip(entries, (message_id, number, len(found), length, vector), strict=True):
                entries[name].append(value)
    if entries["ids"]:
        tx.run(INSERT, entries)


def index_session(tx: Tx, session_id: str) -> None:
    """Keep the words of all messages of a session, which has none yet."""
    after = -1
    while batch := tx.rows(OF_SESSION, {"session_id": session_id, "after": after}):
        stored = [rows.stored_message(row) for row in batch]
        index_rows(tx, ((row["id"], row) for row in stored))
        after = stored[-1]["id"]
