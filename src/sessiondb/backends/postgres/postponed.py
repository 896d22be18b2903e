"""The search index of a store that is about to be filled: put off, and made at the end, beside the proof.

That the index of words is missing says that a load was begun and not finished. Until it is, searches give the same
answers, only slower.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg

from ...sql.driver import Tx
from . import trigrams
from .connection import PostgresTx
from .dialect import dialect, quoted
from .opening import opened
from .pool import Options, Pool
from .schema import LOCK, preparations

# Who uses the store already is not kept waiting for long.
LOCK_SECONDS = 2.0
# Not the lock of schemas: the index of letters is made under that one at the same time.
OWN_LOCK = LOCK - 1
_WORDS = {"search_tokens_tsv": "USING gin (tsv)", "search_tokens_long": "USING gin (tsv) WHERE chunks > 1"}
_LETTERS = ("search_tokens_cut", "search_tokens_trigrams")
MISSING = """
    SELECT to_regclass(:schema || '.search_tokens_tsv') IS NULL
"""


def put_off(options: Options, pool: Pool | None, wish: trigrams.Wish) -> bool:
    """Drop the indexes of a store without messages; False where this role may not, or others are at work there."""
    schema = quoted(options.schema)
    try:
        with opened(options, pool) as connection, connection.transaction():
            for statement in preparations(LOCK_SECONDS):
                connection.execute(statement.encode())
            connection.execute(f"LOCK TABLE {schema}.messages, {schema}.search_tokens".encode())
            found = connection.execute(f"SELECT EXISTS (SELECT 1 FROM {schema}.messages)".encode())
            if found.fetchone() == (True,):
                return False
            for name in (*_WORDS, *(() if wish == "off" else _LETTERS)):
                connection.execute(f"DROP INDEX IF EXISTS {schema}.{name}".encode())
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.LockNotAvailable):
        return False
    return True


def is_due(tx: Tx, schema: str) -> bool:
    return tx.row(MISSING, {"schema": quoted(schema)}) == (True,)


def make_up(options: Options, pool: Pool | None, wish: trigrams.Wish) -> bool:
    """Make what was put off, words and letters side by side; whether there is an index of letters."""

    def letters() -> bool:
        with opened(options, pool) as connection:
            return trigrams.ensure(
                connection, options.schema, wish, new=True, may_create=True, lock_seconds=options.deadline
            )

    with opened(options, pool) as connection, ThreadPoolExecutor(1) as beside, connection.transaction():
        connection.execute(f"SELECT pg_advisory_xact_lock({OWN_LOCK})".encode())
        has_letters = beside.submit(letters)
        if is_due(PostgresTx(connection, dialect(options.schema)), options.schema):
            table = f"{quoted(options.schema)}.search_tokens"
            for name, definition in _WORDS.items():
                connection.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {table} {definition}".encode())
        # The words are the sign that all is done: theirs is the last commit.
        return has_letters.result()
