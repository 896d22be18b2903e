"""What a look at the server tells beside health(): rights, keys, settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...sql.driver import Tx
from ...upkeep import Finding
from . import faults
from .schema import migrations

if TYPE_CHECKING:
    from .provider import MySQLProvider

_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)")
_KEY = re.compile(r"^\s*((?:UNIQUE |FULLTEXT )?KEY (\w+) \(.*\)),?$", re.MULTILINE)
# A whole message of the largest kind, twice, since characters may need two bytes on their way.
WISHED_PACKET = 128 * 1024 * 1024
DENIED = (1142, 1143)
# Columns without a value, or with one that is computed: seen only by who may insert.
UNFIT = (1364, 1906, 3105)
# The server checks rights before it explains.
TRIED = {
    "INSERT": "EXPLAIN INSERT INTO {table} ({column}) SELECT {column} FROM {table} WHERE 1 = 0",
    "UPDATE": "EXPLAIN UPDATE {table} SET {column} = {column} WHERE 1 = 0",
    "DELETE": "EXPLAIN DELETE FROM {table} WHERE 1 = 0",
}
COLUMNS = """
    SELECT table_name, MIN(column_name)
      FROM information_schema.columns
     WHERE table_schema = DATABASE()
       AND ordinal_position = 1
     GROUP BY table_name
"""
KEYS = """
    SELECT DISTINCT table_name, index_name
      FROM information_schema.statistics
     WHERE table_schema = DATABASE()
"""
SETTINGS = """
    SELECT DATABASE(), CURRENT_USER(), @@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog, @@max_allowed_packet
"""


def findings(provider: MySQLProvider) -> list[Finding]:
    return provider.driver.read(lambda tx: list(_findings(tx)))


def _findings(tx: Tx) -> Iterator[Finding]:
    database, user, flush, logs, sync, packet = tx.row(SETTINGS) or ("", "", 1, 0, 1, WISHED_PACKET)
    yield from _rights(tx, database, user)
    yield from _keys(tx)
    if int(flush) != 1:
        yield _lossy("innodb_flush_log_at_trx_commit", flush)
    if int(logs) and int(sync) != 1:
        yield _lossy("sync_binlog", sync)
    if int(packet) < WISHED_PACKET:
        message = f"max_allowed_packet is {int(packet):,} bytes: a message may have half of that"
        yield Finding("settings", "note", message, f"SET GLOBAL max_allowed_packet = {WISHED_PACKET}")


def _lossy(setting: str, value: object) -> Finding:
    message = f"{setting} is {value}: a crash of the server's machine may take the last commits"
    return Finding("settings", "warning", message, f"SET GLOBAL {setting} = 1")


def _tables() -> dict[str, list[tuple[str, str]]]:
    """The keys of each table, as name and definition, from the migrations."""
    statements = [statement for _, statements in migrations() for statement in statements]
    named = [(found[1], statement) for statement in statements if (found := _TABLE.match(statement))]
    return {table: [(name, definition) for definition, name in _KEY.findall(text)] for table, text in named}


def _rights(tx: Tx, database: str, user: str) -> Iterator[Finding]:
    columns: dict[str, str] = dict(tx.rows(COLUMNS))
    tables = [table for table in _tables() if table in columns]
    missing = {table: _lacking(tx, table, columns[table]) for table in tables}
    if all(len(rights) == len(TRIED) for rights in missing.values()):
        yield Finding("settings", "note", f"the user {user} may only read")
        return
    for table, rights in missing.items():
        if rights:
            told = ", ".join(rights)
            step = f"GRANT {told} ON {database}.{table} TO {user}"
            yield Finding("settings", "warning", f"the user {user} lacks {told} on {table}", step)


def _lacking(tx: Tx, table: str, column: str) -> list[str]:
    return [right for right, sql in TRIED.items() if not _may(tx, sql.format(table=table, column=column))]


def _may(tx: Tx, sql: str) -> bool:
    try:
        tx.rows(sql)
    except faults.DriverError as exc:
        if faults.number(exc) not in (*DENIED, *UNFIT):
            raise
        return faults.number(exc) in UNFIT
    return True


def _keys(tx: Tx) -> Iterator[Finding]:
    present = {(table, name) for table, name in tx.rows(KEYS)}
    for table, keys in _tables().items():
        for name, definition in keys:
            if (table, name) not in present:
                step = f"ALTER TABLE {table} ADD {definition}"
                yield Finding("index", "warning", f"the key {name} of {table} is missing", step)
