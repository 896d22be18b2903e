"""The tables of a schema: create, upgrade, or refuse and leave them as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ... import errors
from ...search import analyze
from .connection import Connection
from .dialect import quoted

VERSION = 1002
# "sessiondb" as a number of 63 bits: the lock under which schemas are installed, one at a time.
LOCK = 0x73657373696F6E64 & (2**63 - 1)

_NAME = re.compile(r"(\d{4})_\w+\.sql")
_LOOK = """
    SELECT n.oid IS NOT NULL,
           to_regclass(%(schema)s || '.schema_version') IS NOT NULL,
           to_regclass(%(schema)s || '.sessions') IS NOT NULL
      FROM (SELECT to_regnamespace(%(schema)s) AS oid) n
"""


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """(version, text) in order, from the files of the package."""
    from importlib import resources

    folder = resources.files(__package__) / "migrations"
    found = sorted((int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name)))
    return tuple((version, path.read_text("utf-8")) for version, path in found)


def version(connection: Connection, schema: str) -> int:
    """The version that is installed, 0 for none; raises SchemaTooNew for tables of another program."""
    found = connection.execute(_LOOK.encode(), {"schema": quoted(schema)}).fetchone()
    _, ours, sessions = found or (False, False, False)
    if not ours and sessions:
        raise errors.SchemaTooNew(
            f"the schema {schema!r} has a table `sessions` of another program; it was not touched: name another schema"
        )
    if not ours:
        return 0
    row = connection.execute(f"SELECT MAX(version) FROM {quoted(schema)}.schema_version".encode()).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def check(installed: int, schema: str) -> None:
    if installed > VERSION:
        raise errors.SchemaTooNew(
            f"the schema {schema!r} has version {installed}, this program knows {VERSION}; upgrade sessiondb. "
            "Nothing was changed"
        )


def ensure(connection: Connection, schema: str, *, upgrade: bool, lock_seconds: float) -> bool:
    """Install or upgrade the tables, unless they are current; whoever comes second finds the work done.

    True when they were not there before.
    """
    installed = version(connection, schema)
    check(installed, schema)
    if installed == VERSION:
        return False
    if not upgrade:
        raise errors.SchemaOutdated(
            f"the schema {schema!r} has version {installed}, this program needs {VERSION}; "
            "open it once with upgrade=True, as a role that may create tables"
        )
    with connection.transaction():
        for statement in (*preparations(lock_seconds), *_own_place(schema)):
            connection.execute(statement.encode())
        installed = version(connection, schema)
        check(installed, schema)
        for number, text in migrations():
            if number > installed:
                connection.execute(text.encode())
        if installed < VERSION:
            _stamp(connection)
    return installed == 0


def _stamp(connection: Connection) -> None:
    changed = connection.execute("UPDATE schema_version SET version = %s", [VERSION])
    if not changed.rowcount:
        sql = "INSERT INTO schema_version (version, analyser) VALUES (%s, %s)"
        connection.execute(sql, [VERSION, analyze.VERSION])


def preparations(lock_seconds: float) -> Iterator[str]:
    # Tables in use must not make everybody wait behind us.
    yield f"SET LOCAL lock_timeout = {int(lock_seconds * 1000)}"
    # Of the transaction, not of the session: a pooler may give the session to somebody else.
    yield f"SELECT pg_advisory_xact_lock({LOCK})"
    yield "SET LOCAL client_min_messages TO warning"


def _own_place(schema: str) -> Iterator[str]:
    # Not IF NOT EXISTS: that asks for the right to create one even where it exists.
    missing = f"to_regnamespace('{_literal(schema)}') IS NULL"
    yield f"DO $$ BEGIN IF {missing} THEN CREATE SCHEMA {quoted(schema)}; END IF; END $$"
    yield f"SET LOCAL search_path TO {quoted(schema)}"


def _literal(schema: str) -> str:
    return quoted(schema).replace("'", "''")
