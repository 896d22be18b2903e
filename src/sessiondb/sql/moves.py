"""Sessions out of a database and into one, in parts, as stored: few statements, each part on one snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import ledger
from ..models import MEDIA_REF_COLUMNS, MESSAGE_COLUMNS, SESSION_COLUMNS, TOOL_CALL_COLUMNS
from ..moving import PART_ROWS, SIDE_TABLES, Buried, Entry, Part, Row, adopted, beside
from ..provider import SessionDBProvider
from . import rows
from .driver import Driver, Tx, read, write
from .escape import unescape
from .filters import marks
from .loads import loaded
from .messages import PLACED, UNPLACED
from .sessions import GET, tags_of

# Conversations may hold megabytes in a message: a part ends when it has so many characters.
PART_BYTES = 4 * 1024 * 1024

_ENTRIES = f"""
    SELECT {", ".join(Entry._fields)}
      FROM sessions
     WHERE id > :after
     ORDER BY id
     LIMIT 1000
"""
_TERMS = """
    SELECT COALESCE(term, 0)
      FROM messages
     WHERE session_id = :session_id
       AND seq <= :seq
"""
_TOGETHER = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE session_id IN (%s)
     ORDER BY id
"""
_BESIDE = """
    SELECT %s
      FROM %s
     WHERE session_id = :session_id
       AND message_id >= :first
       AND message_id <= :last
     ORDER BY id
"""
HOMELESS = f"""
    SELECT {rows.prefixed(MESSAGE_COLUMNS, "m")}
      FROM messages m
      LEFT JOIN sessions s ON s.id = m.session_id
     WHERE s.id IS NULL
       AND m.id > :after
     ORDER BY m.id
     LIMIT 500
"""
_SIDE_COLUMNS = {
    "meta": ("name", "value"),
    "import_files": ("path", "inode", "size", "mtime", "read_offset", "head_hash", "origin", "state"),
    "gateway_bindings": (
        "session_key", "platform", "chat_type", "chat_id", "thread_id", "user_id", "active_session_id", "reset_state",
        "created_at", "updated_at", "metadata",
    ),
}  # fmt: skip
_BURIED = (*SESSION_COLUMNS, "tags", "children")
NEXT_BURIED = f"""
    SELECT {", ".join(_BURIED)}, trash_id
      FROM trash_sessions
     WHERE trash_id > :after
     ORDER BY trash_id
     LIMIT 1
"""
SAME_BURIED = """
    SELECT trash_id
      FROM trash_sessions
     WHERE id = :id
       AND deleted_at = :deleted_at
       AND ledger = :ledger
"""
BURY = f"""
    INSERT INTO trash_sessions ({", ".join(_BURIED)})
    VALUES ({", ".join(f":{name}" for name in _BURIED)})
"""
_OWNED = {"messages": MESSAGE_COLUMNS, "tool_calls": TOOL_CALL_COLUMNS, "media_refs": MEDIA_REF_COLUMNS}


class MovePrimitives(SessionDBProvider):
    driver: Driver

    # --- out ---

    def catalogue(self) -> Iterator[Entry]:
        after = ""
        while found := self._entries(after):
            yield from found
            after = found[-1].id

    @read
    def _entries(self, tx: Tx, after: str) -> list[Entry]:
        found = (rows.named(Entry._fields, row) for row in tx.rows(_ENTRIES, {"after": after}))
        return [Entry(**row | {"last_message_id": row["last_message_id"] or 0}) for row in found]

    @read
    def ledger_at(self, tx: Tx, session_id: str, seq: int) -> int:
        return ledger.total(int(row[0]) for row in tx.rows(_TERMS, {"session_id": session_id, "seq": seq}))

    @read
    def stored_together(self, tx: Tx, session_ids: Sequence[str]) -> dict[str, list[Row]]:
        together: dict[str, list[Row]] = {session_id: [] for session_id in session_ids}
        names, params = marks("id", session_ids)
        for row in tx.rows(_TOGETHER % names, params):
            stored = rows.stored_message(row)
            together[stored["session_id"]].append(stored)
        return together

    @read
    def read_part(self, tx: Tx, session_id: str, after: int = 0, limit: int = PART_ROWS) -> Part | None:
        found = tx.row(GET, {"id": session_id})
        if found is None:
            return None
        session = rows.named(SESSION_COLUMNS, found)
        placed, complete = _placed(tx, session_id, after, limit)
        if complete:
            unplaced = [rows.stored_message(row) for row in tx.rows(UNPLACED, {"session_id": session_id})]
            adopted(session, unplaced, placed[-1]["seq"] if placed else after)
            placed += unplaced
        tags = tags_of(tx, session_id) if after == 0 else []
        calls = _beside(tx, "tool_calls", TOOL_CALL_COLUMNS, placed)
        media = _beside(tx, "media_refs", MEDIA_REF_COLUMNS, placed)
        return Part(session, placed, calls, media, tags, after=after, new=after == 0, complete=complete)

    def side_rows(self, table: str) -> list[Row]:
        return self._side_rows(table, _SIDE_COLUMNS[table])

    @read
    def _side_rows(self, tx: Tx, table: str, columns: Sequence[str]) -> list[Row]:
        key = SIDE_TABLES[table]
        return [rows.named(columns, row) for row in tx.rows(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {key}")]

    def buried(self) -> Iterator[Buried]:
        after = 0
        while found := self._next_buried(after):
            after, entry = found
            yield entry

    @read
    def _next_buried(self, tx: Tx, after: int) -> tuple[int, Buried] | None:
        found = tx.row(NEXT_BURIED, {"after": after})
        if found is None:
            return None
        trash_id = int(found[-1])
        owned = {
            table: [
                rows.named(columns, row)
                for row in tx.rows(
                    f"SELECT {', '.join(columns)} FROM trash_{table} WHERE trash_id = :trash_id ORDER BY id",
                    {"trash_id": trash_id},
                )
            ]
            for table, columns in _OWNED.items()
        }
        return trash_id, Buried(rows.named(_BURIED, found), owned["messages"], owned["tool_calls"], owned["media_refs"])

    def homeless(self) -> Iterator[Row]:
        after = 0
        while found := self._homeless(after):
            yield from found
            after = found[-1]["id"]

    @read
    def _homeless(self, tx: Tx, after: int) -> list[Row]:
        return [rows.stored_message(row) for row in tx.rows(HOMELESS, {"after": after})]

    # --- in ---

    @write
    def load(self, tx: Tx, parts: Sequence[Part]) -> dict[str, str]:
        return loaded(tx, parts)

    @write
    def load_side_rows(self, tx: Tx, table: str, rows: Sequence[Row]) -> int:
        key, columns = SIDE_TABLES[table], _SIDE_COLUMNS[table]
        known = {unescape(row[0]) for row in tx.rows(f"SELECT {key} FROM {table}")}
        fresh = [row for row in rows if row[key] not in known]
        for row in fresh:
            tx.run(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})", row
            )
        return len(fresh)

    @write
    def bury(self, tx: Tx, entry: Buried) -> bool:
        if tx.row(SAME_BURIED, entry.session) is not None:
            return False
        trash_id = tx.insert(BURY, entry.session)
        for table, owned in (("messages", entry.rows), ("tool_calls", entry.calls), ("media_refs", entry.media)):
            columns = ("trash_id", *_OWNED[table])
            marks = ", ".join(f":{name}" for name in columns)
            for row in owned:
                tx.run(
                    f"INSERT INTO trash_{table} ({', '.join(columns)}) VALUES ({marks})", {**row, "trash_id": trash_id}
                )
        return True


def _placed(tx: Tx, session_id: str, after: int, limit: int) -> tuple[list[Row], bool]:
    """Rows after a position, so many or so long, and whether they are the last."""
    found: list[Row] = []
    size, fits = 0, rows.AT_FIRST
    while len(found) < limit and size < PART_BYTES:
        wanted = min(fits, limit - len(found))
        params = {"session_id": session_id, "before": 1 << 31, "active": 0, "limit": wanted, "offset": 0}
        some = [
            rows.stored_message(row)
            for row in tx.rows(PLACED % "ASC", {**params, "after": found[-1]["seq"] if found else after})
        ]
        found += some
        if len(some) < wanted:
            return found, True
        size += sum(map(rows.length, some))
        fits = rows.fitting(some)
    return found, False


def _beside(tx: Tx, table: str, columns: Sequence[str], placed: Sequence[Row]) -> list[Row]:
    if not placed:
        return []
    ids = [row["id"] for row in placed]
    params = {"session_id": placed[0]["session_id"], "first": min(ids), "last": max(ids)}
    found = [rows.named(columns, row) for row in tx.rows(_BESIDE % (", ".join(columns), table), params)]
    return beside(found, placed)
