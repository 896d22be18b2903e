"""Whose database is it, and is its schema ours? Install or upgrade under a lock, or refuse and change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ... import errors
from ...search import analyze
from . import faults
from .connection import Connection

VERSION = 1002
OWNER = "sessiondb"
# A column or key that is there already: a step that was done before its maker was stopped. Only MariaDB knows IF NOT
# EXISTS for these.
DONE_BEFORE = (1060, 1061)

_NAME = re.compile(r"(\d{4})_\w+\.sql")
_TABLES = """
    SELECT table_name
      FROM information_schema.tables
     WHERE table_schema = DATABASE()
       AND table_name IN ('schema_version', 'sessions', 'messages')
"""
_OWNER_COLUMN = """
    SELECT COUNT(*)
      FROM information_schema.columns
     WHERE table_schema = DATABASE()
       AND table_name = 'schema_version'
       AND column_name = 'owner'
"""
# First of all tables: a half installed database is known as ours, and is finished by the next who opens it.
_MARK = """
    CREATE TABLE IF NOT EXISTS schema_version (
        owner VARCHAR(32) NOT NULL PRIMARY KEY,
        version INT NOT NULL,
        analyser INT NOT NULL
    ) {options}
"""
_BEGIN = (
    "INSERT INTO schema_version (owner, version, analyser) VALUES (%s, 0, %s) ON DUPLICATE KEY UPDATE owner = owner"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a look at a database says: `empty`, `ours` or `foreign`, its version and that of its words."""

    name: str
    version: int = 0
    analyser: int = 0


@cache
def migrations() -> tuple[tuple[int, tuple[str, ...]], ...]:
    """(version, statements) in order, from the files of the package."""
    from importlib import resources

    folder = resources.files(__package__) / "migrations"
    found = sorted((int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name)))
    return tuple((version, tuple(_statements(path.read_text("utf-8")))) for version, path in found)


def _statements(text: str) -> Iterator[str]:
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("--"))
    return (statement.strip() for statement in "\n".join(lines).split(";") if statement.strip())


def table_options(connection: Connection) -> str:
    collation = "utf8mb4_nopad_bin" if connection.is_mariadb else "utf8mb4_0900_bin"
    return f"ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE {collation}"


def probe(connection: Connection) -> Kind:
    """Look at the database without changing it."""
    tables = {str(row[0]).lower() for row in connection.query(_TABLES)}
    if "schema_version" in tables and connection.query(_OWNER_COLUMN)[0][0]:
        found = connection.query("SELECT version, analyser FROM schema_version WHERE owner = %s", (OWNER,))
        if found:
            return Kind("ours", *map(int, found[0]))
        # Its maker was stopped before the first row.
        return Kind("ours")
    return Kind("foreign") if tables else Kind("empty")


def check(kind: Kind, address: object, *, upgrade: bool, read_only: bool) -> None:
    """Raise unless the database may be used, or made usable."""
    if kind.name == "foreign":
        raise errors.SchemaTooNew(
            f"{address} has tables of another program (sessions, messages); nothing was changed: "
            "give sessiondb a database of its own"
        )
    if kind.version > VERSION:
        raise errors.SchemaTooNew(
            f"{address} has schema {kind.version}, this program knows {VERSION}; upgrade sessiondb. Nothing was changed"
        )
    if kind.version < VERSION and (read_only or (kind.version and not upgrade)):
        raise errors.SchemaOutdated(
            f"{address} has schema {kind.version or 'none'}, this program needs {VERSION}; "
            f"open it once {'without read_only' if read_only else 'with upgrade=True'}"
        )


def ensure(connection: Connection, *, upgrade: bool, read_only: bool, deadline: float) -> Kind:
    """The database as it is when it can be used: installed, upgraded, or raised about."""
    kind = probe(connection)
    check(kind, connection.address, upgrade=upgrade, read_only=read_only)
    if kind.version == VERSION:
        return kind
    name = _lock_name(connection.address.database)
    got = connection.query("SELECT GET_LOCK(%s, %s)", (name, int(deadline)))
    if not got[0][0]:
        raise errors.Busy(f"another process is installing the schema of {connection.address}; try again")
    try:
        kind = probe(connection)
        check(kind, connection.address, upgrade=upgrade, read_only=read_only)
        _install(connection, kind)
    except faults.DriverError as exc:
        raise _refusal(exc, connection) from exc
    finally:
        connection.query("SELECT RELEASE_LOCK(%s)", (name,))
    return probe(connection)


def _lock_name(database: str) -> str:
    # At most 64 characters.
    from hashlib import blake2b

    return f"sessiondb-schema-{blake2b(database.encode(), digest_size=16).hexdigest()}"


def _install(connection: Connection, kind: Kind) -> None:
    options = table_options(connection)
    connection.query(_MARK.replace("{options}", options))
    connection.query(_BEGIN, (OWNER, analyze.VERSION))
    connection.commit()
    for version, statements in migrations():
        if version > kind.version:
            for statement in statements:
                _take_step(connection, statement.replace("{options}", options))
    connection.query("UPDATE schema_version SET version = %s WHERE owner = %s", (VERSION, OWNER))
    connection.commit()


def _take_step(connection: Connection, statement: str) -> None:
    try:
        connection.query(statement)
    except faults.DriverError as exc:
        if faults.number(exc) not in DONE_BEFORE:
            raise


def _refusal(exc: faults.DriverError, connection: Connection) -> errors.SessionDBError:
    if faults.number(exc) in (1044, 1142, 1227):
        return errors.Unavailable(
            f"the user of {connection.address} may not create tables or views; open the store once as a user with "
            "CREATE, CREATE VIEW, SHOW VIEW, DROP, ALTER, INDEX and REFERENCES, or ask for these rights"
        )
    return faults.translated(exc, connection.address)
