"""The ledgers of a file, recomputed on one connection: the rows of a session that cannot be read are a problem of
that session, and the others are checked all the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw

from ....models import MESSAGE_COLUMNS
from ....sql.driver import Row
from ....sql.escape import unescape
from ....sql.rows import MESSAGE_LIST, stored_message
from ....verify import Problem, Report, Tick, check_session
from .. import bodies

CONTENT = (MESSAGE_COLUMNS.index("content"),)
SESSIONS = """
    SELECT id, last_seq, ledger
      FROM sessions
     ORDER BY id
"""
ROWS = f"""
    SELECT {MESSAGE_LIST}
      FROM messages
     WHERE session_id = ?
     ORDER BY seq, id
"""


def check(connection: apsw.Connection, tick: Tick | None = None) -> Report:
    """Check all sessions on one snapshot."""
    report = Report()
    sessions: list[Row] = connection.execute(SESSIONS).fetchall()
    for name, last_seq, total in sessions:
        session = {"id": unescape(name), "last_seq": last_seq, "ledger": total}
        checked = 0
        try:
            checked = check_session(session, _rows(connection, name), report)
        except (apsw.Error, TypeError, ValueError, AttributeError) as exc:
            report.problems.append(Problem(session["id"], "unreadable", f"cannot be read: {exc}"))
        if tick:
            tick(checked)
    return report


def _rows(connection: apsw.Connection, name: str) -> Iterator[dict[str, Any]]:
    return (stored_message(bodies.put_back(connection, row, CONTENT)) for row in connection.execute(ROWS, (name,)))
