"""The index of letters in words, where the extension pg_trgm may be had: for parts of words and words with slips."""

from __future__ import annotations

from typing import Literal

import psycopg

from ... import errors
from ...search.analyze import MAX_TOKEN
from . import faults
from .connection import Connection
from .dialect import quoted
from .schema import preparations

Wish = Literal["auto", "on", "off"]

# The words of a vector, each between quotes.
TEXT = "CAST(strip(t.tsv) AS TEXT)"
# Has a word that may have been overlong; the braces are doubled for the dialect.
CUT = f"{TEXT} ~ '[^'']{{{{{MAX_TOKEN}}}}}'"

_LOOK = """
    SELECT COUNT(*)
      FROM pg_index i
     WHERE i.indexrelid IN (to_regclass(%(schema)s || '.search_tokens_trigrams'),
                            to_regclass(%(schema)s || '.search_tokens_cut'))
       AND i.indisvalid
"""
_PLACE = """
    SELECT n.nspname
      FROM pg_extension e
      JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname = 'pg_trgm'
"""
# The extension is not installed, or may not be; a server without its files has no such name.
_REFUSED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile)


def are_there(connection: Connection, schema: str) -> bool:
    return connection.execute(_LOOK.encode(), {"schema": quoted(schema)}).fetchone() == (2,)


def ensure(
    connection: Connection, schema: str, wish: Wish, *, new: bool, may_create: bool, lock_seconds: float
) -> bool:
    """Whether the index can be used. It is made with a new store if it can be, later only when it is wished for."""
    if wish == "off":
        return False
    if are_there(connection, schema):
        return True
    if not may_create or (wish == "auto" and not new):
        return False
    try:
        with connection.transaction():
            for statement in preparations(lock_seconds):
                connection.execute(statement.encode())
            if not are_there(connection, schema):
                _create(connection, schema)
    except _REFUSED as exc:
        if wish == "on":
            raise errors.Unavailable(
                "trigrams: on needs the extension pg_trgm and an index, which this role may not create: "
                f"{faults.sentence_of(exc)}; let an administrator open the store once, or set trigrams: auto"
            ) from exc
        return False
    return True


def _create(connection: Connection, schema: str) -> None:
    found = connection.execute(_PLACE.encode()).fetchone()
    if found is None:
        # Not into the schema of one store: another store of the database would lose it with that schema.
        connection.execute(b"CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public")
        found = connection.execute(_PLACE.encode()).fetchone()
    assert found is not None
    table, text, cut = f"{quoted(schema)}.search_tokens", TEXT.replace("t.", ""), CUT.format().replace("t.", "")
    for name, definition in (
        ("search_tokens_cut", f"(message_id) WHERE {cut}"),
        ("search_tokens_trigrams", f"USING gin (({text}) {quoted(found[0])}.gin_trgm_ops)"),
    ):
        # One that was left invalid by somebody who built it beside the writers.
        connection.execute(f"DROP INDEX IF EXISTS {quoted(schema)}.{name}".encode())
        connection.execute(f"CREATE INDEX {name} ON {table} {definition}".encode())
