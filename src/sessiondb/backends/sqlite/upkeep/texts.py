"""Large texts that are kept once: are all there and whole, which does nobody need, and how are they kept?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw

from ....sql.driver import Driver, Row, Tx
from ....upkeep import Diagnosis, Tick
from .. import bodies

# Where references stand; the same four as in the migration.
HOLDERS = (
    ("messages", "content"),
    ("trash_messages", "content"),
    ("sessions", "system_prompt"),
    ("trash_sessions", "system_prompt"),
)
MISSING = """
    SELECT DISTINCT r.reference
      FROM body_references r
     WHERE NOT EXISTS (SELECT 1 FROM bodies b WHERE b.reference = r.reference)
"""
UNUSED = """
    SELECT b.reference
      FROM bodies b
     WHERE NOT EXISTS (SELECT 1 FROM body_references r WHERE r.reference = b.reference)
     LIMIT :limit
"""
# In one statement: as a parameter, a reference would be escaped like any text.
COLLECT = f"""
    DELETE FROM bodies
     WHERE reference IN ({UNUSED})
"""
ALL = "SELECT reference, codec, data FROM bodies"
SET_MODE = """
    INSERT INTO meta (name, value)
    VALUES ('bodies', :mode)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
BATCH = 100
# A reference is shorter than any text that is kept apart.
LONG_ROWS = """
    SELECT rowid AS place, {column} AS text
      FROM {table}
     WHERE rowid > :after
       AND octet_length({column}) > :large
     ORDER BY rowid
     LIMIT :limit
"""
REFERRING_ROWS = f"""
    SELECT rowid AS place, {{column}} AS text
      FROM {{table}}
     WHERE rowid > :after
       AND {{column}} >= '{bodies.LEAD}'
       AND {{column}} < '{bodies.BEYOND}'
     ORDER BY rowid
     LIMIT :limit
"""
OTHER_CODEC = """
    SELECT rowid, codec, data
      FROM bodies
     WHERE codec <> :codec
       AND rowid > :after
     ORDER BY rowid
     LIMIT :limit
"""


# --- whole? ---


def examine(connection: apsw.Connection, diagnosis: Diagnosis, way_out: str) -> None:
    """Tell of texts that are missing or not what their hash says."""
    missing = len(connection.execute(MISSING).fetchall())
    damaged = sum(1 for _ in _unsound(connection))
    unused = len(connection.execute(UNUSED, {"limit": -1}).fetchall())
    diagnosis.facts["bodies"] = {"missing": missing, "damaged": damaged, "unused": unused}
    if missing:
        diagnosis.add("data", "damage", f"{missing} large texts are missing that messages refer to", way_out)
    if damaged:
        diagnosis.add("data", "damage", f"{damaged} large texts are not what their hash says", way_out)


def _unsound(connection: apsw.Connection) -> Iterator[tuple[str, str | None]]:
    """Texts that are damaged, with what can still be read of them."""
    names = [str(row[0]) for row in connection.execute("SELECT reference FROM bodies").fetchall()]
    for name in names:
        text = _readable(connection, name)
        if text is None or bodies.reference(text.encode()) != name:
            yield name, text


def _readable(connection: apsw.Connection, name: str) -> str | None:
    try:
        found: list[Row] = connection.execute(bodies.GET, (name,)).fetchall()
        return bodies.text_of(*found[0])
    except ValueError:
        return None


def mend(connection: apsw.Connection) -> int:
    """Put what is left of damaged texts where it is referred to, nothing where all is lost; how many had nothing."""
    for name, text in list(_unsound(connection)):
        if text is not None:
            _replace(connection, name, text)
        connection.execute("DELETE FROM bodies WHERE reference = ?", (name,))
    return sum(_replace(connection, str(row[0]), None) for row in connection.execute(MISSING).fetchall())


def _replace(connection: apsw.Connection, name: str, text: str | None) -> int:
    changed = 0
    for table, column in HOLDERS:
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (text, name))
        changed += connection.changes()
    return changed


# --- as wanted? ---


def collect(driver: Driver, tick: Tick | None) -> int:
    """Drop texts that nothing refers to; no other writer is at work while one is looked at."""
    dropped = 0
    while some := driver.write(_collect_some):
        dropped += some
        if tick:
            tick(0)
    return dropped


def _collect_some(tx: Tx) -> int:
    return tx.run(COLLECT, {"limit": BATCH})


def convert(driver: Driver, mode: str, tick: Tick | None) -> None:
    """Keep large texts in another way from now on, and those that are there too; in steps, others write in between."""
    driver.write(lambda tx: tx.run(SET_MODE, {"mode": mode}))
    statement = REFERRING_ROWS if mode == bodies.OFF else LONG_ROWS
    for table, column in HOLDERS:
        after = -1
        while (done := driver.write(_step(table, column, statement, after))) is not None:
            after = done
            if tick:
                tick(0)
    if mode != bodies.OFF:
        _recode(driver, mode)


def _step(table: str, column: str, statement: str, after: int) -> Any:
    def work(tx: Tx) -> int | None:
        params = {"after": after, "large": bodies.LARGE_BYTES, "limit": BATCH}
        found = tx.rows(statement.replace("{column}", column).replace("{table}", table), params)
        for place, text in found:
            whole = bodies.body(tx.connection, text) if bodies.is_reference(text) else text  # type: ignore[attr-defined]
            _put(tx.connection, table, column, place, whole)  # type: ignore[attr-defined]
        return int(found[-1][0]) if found else None

    return work


def _put(connection: apsw.Connection, table: str, column: str, place: int, text: str) -> None:
    stored = bodies.shared(connection, {column: text})[column]
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (stored, place))


def _recode(driver: Driver, codec: str) -> None:
    after = 0

    def work(tx: Tx) -> int | None:
        found = tx.rows(OTHER_CODEC, {"codec": codec, "after": after, "limit": BATCH})
        for place, now, data in found:
            packed = bodies.packed(bodies.text_of(now, data), codec)
            tx.run(
                "UPDATE bodies SET codec = :codec, data = :data WHERE rowid = :place",
                {"codec": codec, "data": packed, "place": place},
            )
        return int(found[-1][0]) if found else None

    while (done := driver.write(work)) is not None:
        after = done
