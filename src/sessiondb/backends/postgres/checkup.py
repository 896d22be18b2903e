"""What a look at the server tells beside health(): rights, extension, indexes, settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...sql.driver import Tx
from ...upkeep import Finding
from .dialect import TABLES, quoted
from .schema import migrations

if TYPE_CHECKING:
    from .provider import PostgreSQLProvider

_INDEX = re.compile(r"^CREATE (?:UNIQUE )?INDEX (\w+) ON (\w+)[^;]*", re.MULTILINE)
WORDS = ("search_tokens_tsv", "search_tokens_long")
RIGHTS = """
    SELECT c.relname, r.name
      FROM pg_class c
     CROSS JOIN (VALUES ('INSERT'), ('UPDATE'), ('DELETE')) r (name)
     WHERE c.relnamespace = to_regnamespace(:schema)
       AND c.relkind = 'r'
       AND c.relname = ANY(CAST(:tables AS TEXT[]))
       AND NOT has_table_privilege(c.oid, r.name)
     ORDER BY c.relname, r.name
"""
SEQUENCES = """
    SELECT c.relname
      FROM pg_class c
     WHERE c.relnamespace = to_regnamespace(:schema)
       AND CASE WHEN c.relkind = 'S' THEN NOT has_sequence_privilege(c.oid, 'USAGE') ELSE FALSE END
     ORDER BY c.relname
"""
OWNER = """
    SELECT current_user, pg_get_userbyid(c.relowner), pg_has_role(c.relowner, 'USAGE')
      FROM pg_class c
     WHERE c.oid = to_regclass(:table)
"""
INDEXES = """
    SELECT c.relname
      FROM pg_index i
      JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = to_regnamespace(:schema)
       AND i.indisvalid
"""
EXTENSION = """
    SELECT installed_version IS NOT NULL
      FROM pg_available_extensions
     WHERE name = 'pg_trgm'
"""
SETTINGS = """
    SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('autovacuum'),
           current_setting('synchronous_commit')
"""


def findings(provider: PostgreSQLProvider) -> list[Finding]:
    return provider.driver.read(lambda tx: list(_findings(tx, provider.schema, provider.features.indexed_text_search)))


def _findings(tx: Tx, schema: str, has_letters: bool) -> Iterator[Finding]:
    yield from _rights(tx, schema)
    yield from _indexes(tx, schema)
    if not has_letters:
        yield _letters(tx)
    yield from _settings(tx)


def _rights(tx: Tx, schema: str) -> Iterator[Finding]:
    name = quoted(schema)
    role, owner, owns = tx.row(OWNER, {"table": f"{name}.messages"}) or ("", "", False)
    if not owns:
        message = f"the role {role} may not change tables: after an update of sessiondb, {owner} opens the store first"
        yield Finding("settings", "note", message)
    tables = [table for table in TABLES if table != "schema_version"]
    missing: dict[str, list[str]] = {}
    for table, right in tx.rows(RIGHTS, {"schema": name, "tables": tables}):
        missing.setdefault(table, []).append(right)
    if len(missing) == len(tables):
        yield Finding("settings", "note", f"the role {role} may only read")
        return
    for table, rights in missing.items():
        told = ", ".join(rights)
        step = f"GRANT {told} ON {name}.{table} TO {quoted(role)}"
        yield Finding("settings", "warning", f"the role {role} lacks {told} on {table}", step)
    for (sequence,) in tx.rows(SEQUENCES, {"schema": name}):
        step = f"GRANT USAGE, SELECT ON SEQUENCE {name}.{sequence} TO {quoted(role)}"
        yield Finding("settings", "warning", f"the role {role} may not draw from {sequence}", step)


def _indexes(tx: Tx, schema: str) -> Iterator[Finding]:
    present = {name for (name,) in tx.rows(INDEXES, {"schema": quoted(schema)})}
    for _, text in migrations():
        for found in _INDEX.finditer(text):
            if found[1] not in present:
                yield _missing(schema, found)


def _missing(schema: str, found: re.Match[str]) -> Finding:
    step = found[0].replace(f" ON {found[2]}", f" ON {quoted(schema)}.{found[2]}", 1)
    told = f"the index {found[1]} is missing or was not finished"
    if found[1] in WORDS:
        return Finding("index", "warning", f"{told}: searches are slow", "sessiondb optimize --reindex")
    return Finding("index", "warning", told, " ".join(step.split()))


def _letters(tx: Tx) -> Finding:
    installed = tx.row(EXTENSION)
    told = "parts of words and words with slips are looked for message by message"
    if installed is None:
        return Finding("index", "note", f"the server has no pg_trgm: {told}")
    step = "open the store once with trigrams: on" if installed[0] else "CREATE EXTENSION pg_trgm"
    return Finding("index", "note", f"there is no index of letters: {told}", step)


def _settings(tx: Tx) -> Iterator[Finding]:
    fsync, pages, autovacuum, synchronous = tx.row(SETTINGS) or ("on",) * 4
    for setting, value in (("fsync", fsync), ("full_page_writes", pages)):
        if value == "off":
            message = f"{setting} is off: a crash of the server's machine can damage everything"
            yield Finding("settings", "warning", message, f"ALTER SYSTEM SET {setting} = on; SELECT pg_reload_conf()")
    if autovacuum == "off":
        message = "autovacuum is off: searches and lists grow slow"
        yield Finding("settings", "warning", message, "ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf()")
    if synchronous == "off":
        yield Finding("settings", "note", "synchronous_commit is off: a crash may take the last 0.6 s")
