"""Index and data at one moment: what the index has read, and what it has not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import apsw

from ....models import MESSAGE_COLUMNS
from ....sql import rows
from ....sql.driver import Row
from ....sql.filters import Where, marks
from ..connection import SQLiteTx
from . import files
from .catchup import Position

# One statement: it takes both snapshots, the index's first. What is committed later stays unseen.
STATE = """
    SELECT (SELECT value FROM main.state WHERE name = 'last_id'),
           (SELECT value FROM main.state WHERE name = 'last_change'),
           COALESCE((SELECT seq FROM data.sqlite_sequence WHERE name = 'messages'), 0),
           COALESCE((SELECT seq FROM data.sqlite_sequence WHERE name = 'message_changes'), 0),
           COALESCE((SELECT value FROM main.state WHERE name = 'machines'), 'unknown')
"""
CHANGED = """
    SELECT message_id
      FROM message_changes
     WHERE id > :last_change
"""
BATCH = 500


class Snapshot:
    """Valid as long as the transaction in which it was taken."""

    def __init__(
        self, connection: apsw.Connection, at: Position, newest: int, newest_change: int, any_machine: bool = True
    ) -> None:
        """`any_machine`: whether messages of machines may be among those that were read."""
        self.connection, self.tx = connection, SQLiteTx(connection)
        self.at, self.newest, self.newest_change = at, newest, newest_change
        self.any_machine = any_machine
        self._stale: frozenset[int] | None = None

    @property
    def lag(self) -> int:
        """How many messages, new or changed, the index has not read."""
        return self.newest - self.at.last_id + self.newest_change - self.at.last_change

    @property
    def stale(self) -> frozenset[int]:
        """Messages that were changed or removed after the index read them."""
        if self._stale is None:
            self._stale = self._changed_since() if self.at.last_change != self.newest_change else frozenset()
        return self._stale

    def _changed_since(self) -> frozenset[int]:
        found = self.tx.rows(CHANGED, {"last_change": self.at.last_change})
        if len(found) != self.newest_change - self.at.last_change:
            raise files.Unusable("changes that it has not seen were trimmed from the log")
        return frozenset(each for (each,) in found if each <= self.at.last_id)

    def unread(self, where: Where) -> Iterator[Row]:
        """Rows with their session's source, that pass `where` and that the index does not know as they are."""
        yield from self.among(sorted(self.stale), where)
        last = self.at.last_id
        while last < self.newest and (found := self._rows(where, "m.id > :after", {"after": last})):
            yield from found
            last = found[-1][0]

    def among(self, ids: Sequence[int], where: Where) -> Iterator[Row]:
        """Rows as `unread` gives them, of messages with these ids."""
        for start in range(0, len(ids), BATCH):
            names, params = marks("among", ids[start : start + BATCH])
            yield from self._rows(where, f"m.id IN ({names})", params)

    def of_session(self, session_id: str, where: Where) -> Iterator[Row]:
        """Rows as `unread` gives them, of all messages of a session, known to the index or not."""
        last = 0
        while found := self._rows(
            where, "m.session_id = :whole AND m.id > :after", {"whole": session_id, "after": last}
        ):
            yield from found
            last = found[-1][0]

    def newest_first(self, where: Where) -> Iterator[Row]:
        """Rows as `unread` gives them, of all messages, the newest first."""
        beyond = self.newest + 1
        while found := self._rows(where, "m.id < :beyond", {"beyond": beyond}, "DESC"):
            yield from found
            beyond = found[-1][0]

    def _rows(self, where: Where, condition: str, params: Mapping[str, int | str], order: str = "ASC") -> Sequence[Row]:
        # CROSS: the ids lead, or SQLite may begin with all sessions that pass.
        sql = f"""
            SELECT {rows.prefixed(MESSAGE_COLUMNS, "m")}, s.source
              FROM messages m
             CROSS JOIN sessions s ON s.id = m.session_id
             WHERE {condition}
               AND {where.sql}
             ORDER BY m.id {order}
             {{page}}
        """
        return self.tx.rows(sql, {**where.params, **params, "limit": BATCH, "offset": 0})


def taken(connection: apsw.Connection) -> Snapshot:
    """The snapshot of the transaction that has begun; raises Unusable when the index cannot be of these messages."""
    last_id, last_change, newest, newest_change, machines = connection.execute(STATE).fetchall()[0]
    at = Position(int(str(last_id)), int(str(last_change)))
    found = Snapshot(connection, at, int(str(newest)), int(str(newest_change)), machines != files.NO_MACHINES)
    if at.last_id > found.newest or at.last_change > found.newest_change:
        raise files.Unusable("it is ahead of the messages")
    return found
