"""The words of new messages, stored in the transaction that stores the messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...models import MessageRow
from ...rows import message_row
from ...search import analyze
from ...search.text import words
from ...sql import rows
from ...sql.appends import INSERT_NEXT, INSERT_PLACED
from ...sql.driver import Params, Tx
from ...sql.filters import marks
from ...sql.trash import RAISE_MESSAGES
from .connection import NOTHING, Connection, MySQLTx
from .encoding import chunks, text_of

BATCH = 500

ADD_WORDS = """
    INSERT INTO search_words (message_id, words, body, extra)
    VALUES (:message_id, :words, :body, :extra)
"""
ADD_CHUNK = """
    INSERT INTO search_chunks (message_id, chunk, words, body, extra)
    VALUES (:message_id, :chunk, :words, :body, :extra)
"""
SOME = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE id > :after
     ORDER BY id
     LIMIT :limit
    {{for_update}}
"""
NEWEST = """
    SELECT COALESCE(MAX(id), 0)
      FROM messages
"""
SET_ANALYSER = """
    UPDATE schema_version
       SET analyser = :analyser
     WHERE owner = 'sessiondb'
"""
OF_SESSION = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE session_id = :session_id
"""


class IndexingTx(MySQLTx):
    """A transaction that remembers which messages it stored."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._stored: list[tuple[int, MessageRow]] = []

    def insert(self, sql: str, params: Params = NOTHING) -> int | None:
        found = super().insert(sql, params)
        if sql is INSERT_NEXT and found is not None:
            self._stored.append((found, _as_row(params)))
        return found

    def insert_many(self, sql: str, params: Sequence[Params], *, plain: Sequence[bool] = ()) -> list[int]:
        ids = super().insert_many(sql, params)
        if sql is INSERT_PLACED:
            self._stored += zip(ids, map(_as_row, params), strict=True)
        return ids

    def run(self, sql: str, params: Params = NOTHING) -> int:
        changed = super().run(sql, params)
        if sql is RAISE_MESSAGES:
            raised = rows.messages(self.rows(OF_SESSION, {"session_id": params["session_id"]}))
            self._stored += ((row["id"], row) for row in raised)
        return changed

    def index(self) -> None:
        """Store the words of what was stored. The last step: the full-text index sees rows when they are committed."""
        if self._stored:
            add_words(self, self._stored)


def add_words(tx: Tx, stored: Sequence[tuple[int, MessageRow]]) -> None:
    whole: list[dict[str, Any]] = []
    for message_id, row in stored:
        body, extra = words(row)
        pieces = chunks(body, extra)
        if len(pieces) == 1:
            whole.append({"message_id": message_id, "words": len(body), **_texts(*pieces[0])})
            continue
        for number, piece in enumerate(pieces):
            tx.run(ADD_CHUNK, {"message_id": message_id, "chunk": number, "words": len(body), **_texts(*piece)})
    if whole:
        tx.insert_many(ADD_WORDS, whole)


def newest(tx: Tx) -> int:
    found = tx.row(NEWEST)
    return int(found[0]) if found else 0


def reindex_some(tx: Tx, after: int) -> int | None:
    """Make the words of a batch of messages again; the last id, or None when there are no more."""
    found = rows.messages(tx.rows(SOME, {"after": after, "limit": BATCH}))
    if not found:
        tx.run(SET_ANALYSER, {"analyser": analyze.VERSION})
        return None
    names, params = marks("id", [row["id"] for row in found])
    for table in ("search_words", "search_chunks"):
        tx.run(f"DELETE FROM {table} WHERE message_id IN ({names})", params)
    add_words(tx, [(row["id"], row) for row in found])
    return found[-1]["id"]


def _texts(body: Sequence[str], extra: Sequence[str]) -> dict[str, str]:
    return {"body": text_of(body), "extra": text_of(extra, barred=True)}


def _as_row(params: Params) -> MessageRow:
    content_type = params["content_type"]
    if content_type is None and params["tool_calls"] is None:
        return {"content": params["content"], "tool_name": params["tool_name"]}
    return message_row({**params, "id": 0})
