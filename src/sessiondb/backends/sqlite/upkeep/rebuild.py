"""Salvaged rows put into a new store, so that they fit together again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import apsw

from .... import ledger
from ....models import MESSAGE_COLUMNS
from ....sql.escape import unescape
from ....sql.rows import MESSAGE_LIST, stored_message
from ....upkeep import Salvage, TableSaved
from .. import bodies
from . import texts
from .btree import Row
from .catalogue import Catalogue, Index, Table
from .ledgers import CONTENT
from .salvage import Salvager

RECOVERED = "recovered"
# The indexes that tell of each row what it is called: (session, position, rowid) and (session, rowid).
POSITIONS, NAMES = "messages_position", "sqlite_autoindex_sessions_1"
CALLED = {
    POSITIONS: "SELECT session_id, seq FROM messages WHERE id = ?",
    NAMES: "SELECT id FROM sessions WHERE rowid = ?",
}
Entry = tuple[Any, ...]
_OWN_ROWS = frozenset({"schema_version"})
_LARGEST_SEQ = 1 << 31
_MOST_GAPS = 10_000

HOMELESS = """
    SELECT session_id, MIN(timestamp)
      FROM messages
     WHERE session_id NOT IN (SELECT id FROM sessions)
     GROUP BY session_id
     ORDER BY session_id
"""
ADD_PLACEHOLDER = """
    INSERT INTO sessions (id, source, started_at)
    VALUES (?, ?, ?)
"""
SESSIONS = """
    SELECT id, last_seq, ledger
      FROM sessions
     ORDER BY id
"""
PLACED = f"""
    SELECT {MESSAGE_LIST}
      FROM messages
     WHERE session_id = ?
       AND seq IS NOT NULL
     ORDER BY seq
"""
SETTLE = """
    UPDATE sessions
       SET last_seq = :last_seq,
           ledger = :ledger,
           message_count = (SELECT COUNT(*) FROM messages m WHERE m.session_id = :id AND m.active = 1),
           tool_call_count = (SELECT COUNT(*) FROM tool_calls t JOIN messages m ON m.id = t.message_id
                               WHERE t.session_id = :id AND m.active = 1),
           last_message_id = (SELECT MAX(m.id) FROM messages m WHERE m.session_id = :id),
           last_active = COALESCE(last_active, (SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = :id))
     WHERE id = :id
"""
ORPHANED = """
    UPDATE sessions
       SET parent_session_id = NULL
     WHERE parent_session_id IS NOT NULL
       AND parent_session_id NOT IN (SELECT id FROM sessions)
"""
# Ids only grow: those of deleted messages do not come back.
HIGHEST_ID = (
    """
    INSERT INTO sqlite_sequence (name, seq)
    SELECT 'messages', 0
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'messages')
    """,
    """
    UPDATE sqlite_sequence
       SET seq = max(seq, COALESCE((SELECT MAX(id) FROM trash_messages), 0),
                     COALESCE((SELECT MAX(last_message_id) FROM sessions), 0))
     WHERE name = 'messages'
    """,
)
TRUE_PLACE = """
    UPDATE OR IGNORE messages
       SET session_id = ?, seq = ?
     WHERE id = ?
"""
# The term proves the position, but not the session.
TRUE_HOME = """
    UPDATE OR IGNORE messages
       SET session_id = ?1
     WHERE id = ?3
       AND session_id NOT IN (SELECT id FROM sessions)
       AND seq = ?2
"""
TRUE_NAME = """
    UPDATE OR IGNORE sessions
       SET id = :name
     WHERE rowid = :rowid
       AND id <> :name
       AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = sessions.id)
       AND EXISTS (SELECT 1 FROM messages m WHERE m.session_id = :name)
"""


class Rebuild:
    """Fills a fresh store in one transaction and writes the report."""

    def __init__(self, connection: apsw.Connection, fresh: Catalogue, report: Salvage) -> None:
        self._connection = connection
        self._fresh = fresh
        self._report = report
        self._known = {name: frozenset(table.column_names) for name, table in fresh.tables.items()}
        self._tables = {name: TableSaved(name) for name in fresh.tables if name not in _OWN_ROWS}
        # Messages by id whose content does not fit their term.
        self._altered: set[int] = set()
        # Messages by id whose text is kept apart, and whether their own row was sound.
        self._referring: list[tuple[int, bool]] = []

    def run(self, salvager: Salvager) -> None:
        for table in salvager.catalogue.tables.values():
            for row in salvager.rows(table):
                self._insert(table, row)
        dangling = [entry for index in salvager.catalogue.indexes.values() for entry in self._dangling(index, salvager)]
        for table, row in salvager.strays():
            self._insert(table, row)
        self._prove_large()
        self._look_for(dangling)
        self._settle()
        self._report.tables = [saved for saved in self._tables.values() if saved.saved or saved.lost]

    # --- rows ---

    def _insert(self, table: Table, row: Row) -> None:
        saved = self._tables.get(table.name)
        values = table.named(row)
        if saved is None or (table.name == "messages" and not self._prove(values, row.text_sound)):
            return
        known = self._known[table.name]
        values = {name: value for name, value in values.items() if name in known}
        if table.has_rowid and self._fresh.tables[table.name].rowid_name == "rowid":
            values["rowid"] = row.rowid
        stored = self._put(table.name, values)
        saved.saved += stored
        if stored and table.name == "sessions" and not (row.text_sound and row.page_sound):
            self._report.doubtful_sessions.append(unescape(str(values.get("id"))))

    def _put(self, table: str, values: dict[str, Any]) -> int:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        sql = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"
        if table == "meta":
            # A fresh store has facts of its own; those of the old one count.
            sql = sql.replace("OR IGNORE", "OR REPLACE")
        self._connection.execute(sql, tuple(values.values()))
        return self._connection.changes()

    def _prove(self, values: dict[str, Any], text_sound: bool) -> bool:
        """Whether a message can be kept; one that does not fit its term gets a new one and is noted."""
        if not _plausible(values):
            return False
        if bodies.is_reference(values.get("content")):
            # Its text may come later.
            self._referring.append((values["id"], text_sound))
            return True
        if values.get("seq") is None:
            return True
        row = stored_message(tuple(values.get(name) for name in MESSAGE_COLUMNS))
        term = _term(row)
        if term != row["term"] or not text_sound:
            self._altered.add(values["id"])
            values["term"] = term
        return True

    def _prove_large(self) -> None:
        """Messages whose text is kept apart, now that all texts are here that will be."""
        missing = texts.mend(self._connection)
        if missing:
            self._report.notes.append(f"{missing} references to large texts had no text any more; they are empty now")
        for message_id, text_sound in self._referring:
            for values in self._rows(f"SELECT {MESSAGE_LIST} FROM messages WHERE id = {message_id}"):
                row = self._stored(values)
                if row["seq"] is not None and (not text_sound or _term(row) != row["term"]):
                    self._altered.add(message_id)
                    self._reprove(row)

    def _stored(self, values: Entry) -> dict[str, Any]:
        return stored_message(bodies.put_back(self._connection, values, CONTENT))

    # --- what the indexes still know ---

    def _dangling(self, index: Index, salvager: Salvager) -> Iterator[tuple[Index, Entry]]:
        """Entries whose row is not there, or not under their name."""
        table = self._fresh.tables.get(index.table)
        for entry in salvager.entries(index) if table and table.has_rowid and index.table in self._tables else ():
            # The rowid comes last in every index of a table that has them.
            if isinstance(entry[-1], int) and (
                not self._is_here(index.table, entry[-1]) or self._misnamed(index, entry)
            ):
                yield index, entry

    def _is_here(self, table: str, rowid: int) -> bool:
        sql = f"SELECT 1 FROM {table} WHERE {self._fresh.tables[table].rowid_name} = ?"
        return bool(self._connection.execute(sql, (rowid,)).fetchall())

    def _misnamed(self, index: Index, entry: Entry) -> bool:
        if index.name not in CALLED:
            return False
        return self._connection.execute(CALLED[index.name], (entry[-1],)).fetchall() != [entry[:-1]]

    def _look_for(self, dangling: Iterable[tuple[Index, Entry]]) -> None:
        """Strays may have brought the rows after all; what is misnamed gets its name back, the rest is lost."""
        lost: dict[str, set[int]] = {}
        for index, entry in dangling:
            if self._is_here(index.table, entry[-1]):
                self._rename(index, entry)
            else:
                lost.setdefault(index.table, set()).add(entry[-1])
                self._name_lost(index, entry)
        for table, rowids in lost.items():
            self._tables[table].lost = len(rowids)

    def _name_lost(self, index: Index, entry: Entry) -> None:
        if index.name == NAMES and isinstance(entry[0], str):
            self._report.lost_sessions.append(unescape(entry[0]))
        elif index.name == POSITIONS and _is_position(entry):
            self._report.lost_messages.setdefault(unescape(entry[0]), []).append(entry[1])

    def _rename(self, index: Index, entry: Entry) -> None:
        if index.name == POSITIONS and _is_position(entry):
            self._connection.execute(TRUE_PLACE if entry[-1] in self._altered else TRUE_HOME, entry)
        elif index.name == NAMES and isinstance(entry[0], str):
            self._connection.execute(TRUE_NAME, {"name": entry[0], "rowid": entry[-1]})

    # --- fitting together ---

    def _settle(self) -> None:
        self._add_placeholders()
        for name, last_seq, total in self._rows(SESSIONS):
            self._settle_session(name, last_seq or 0, total or 0)
        self._tables["messages"].lost = sum(map(len, self._report.lost_messages.values()))
        self._connection.execute(ORPHANED)
        if self._connection.changes():
            self._report.notes.append(f"{self._connection.changes()} sessions lost their parent")
        for table in ("tool_calls", "media_refs", "tags"):
            self._drop_homeless(table)
        for statement in HIGHEST_ID:
            self._connection.execute(statement)

    def _rows(self, sql: str) -> list[Entry]:
        return self._connection.execute(sql).fetchall()

    def _add_placeholders(self) -> None:
        for name, started_at in self._rows(HOMELESS):
            self._connection.execute(ADD_PLACEHOLDER, (name, RECOVERED, started_at))
            self._report.placeholders.append(unescape(name))
        named = set(self._report.placeholders)
        self._report.lost_sessions = sorted(set(self._report.lost_sessions) - named)

    def _settle_session(self, name: str, last_seq: int, stored: int) -> None:
        known = unescape(name)
        rows = [self._stored(values) for values in self._connection.execute(PLACED, (name,)).fetchall()]
        altered = [row["seq"] for row in rows if row["id"] in self._altered]
        if altered:
            self._report.altered_messages[known] = altered
        total = ledger.total(self._reprove(row) if row["id"] in self._altered else row["term"] for row in rows)
        highest = max([last_seq if last_seq < _LARGEST_SEQ else 0, *(row["seq"] for row in rows)])
        if (total, highest) == (stored, last_seq):
            # A damaged index may have named positions that never were.
            self._report.lost_messages.pop(known, None)
            return
        if not altered and known not in self._report.placeholders:
            self._report.lost_messages.setdefault(known, _gaps(highest, {row["seq"] for row in rows}))
        self._connection.execute(SETTLE, {"id": name, "last_seq": highest, "ledger": total})

    def _reprove(self, row: dict[str, Any]) -> int:
        term = _term(row)
        self._connection.execute("UPDATE messages SET term = ? WHERE id = ?", (term, row["id"]))
        return term

    def _drop_homeless(self, table: str) -> None:
        self._connection.execute(f"DELETE FROM {table} WHERE session_id NOT IN (SELECT id FROM sessions)")
        dropped = self._connection.changes()
        self._tables[table].saved -= dropped
        self._tables[table].lost += dropped


def _term(row: dict[str, Any]) -> int:
    return ledger.term(ledger.digest(row), row["seq"])


def _gaps(highest: int, seen: set[int]) -> list[int]:
    return list(islice((seq for seq in range(1, highest + 1) if seq not in seen), _MOST_GAPS))


def _is_position(entry: Entry) -> bool:
    return len(entry) == 3 and isinstance(entry[0], str) and isinstance(entry[1], int) and 0 < entry[1] < _LARGEST_SEQ


def _plausible(values: dict[str, Any]) -> bool:
    seq = values.get("seq")
    places = seq is None or (isinstance(seq, int) and 0 < seq < _LARGEST_SEQ)
    texts = isinstance(values.get("session_id"), str) and isinstance(values.get("role"), str)
    return places and texts and values["session_id"] != "" and isinstance(values.get("timestamp"), float)
