"""A look at the index from outside: how far it is, and whether it can be trusted. Nothing is changed."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from ....values import dataclass
from . import catchup, files, seal

ROWS_UP_TO = "SELECT COUNT(*) FROM messages WHERE id <= ?"
NEWEST = "SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0)"
PENDING = "SELECT COUNT(*) FROM message_changes WHERE id > ?"

Ask = Callable[[str, tuple[int, ...]], int]


@dataclass(frozen=True, slots=True)
class Inspection:
    """`lag` messages are not indexed yet; `problem` says why the index cannot be used."""

    generation: int
    lag: int
    problem: str | None = None


def inspected(data_path: str, ask: Ask, *, thorough: bool = False) -> Inspection | None:
    """The state of the current generation, or None when there is none; `ask` answers a number from the data file."""
    known = files.generations(data_path)
    if not known:
        return None
    number, path = known[-1]
    try:
        connection = files.opened(path, read_only=True)
        try:
            # Held while looking, so that nobody writes meanwhile.
            connection.execute("BEGIN")
            at = catchup.position(connection)
            problem = _problem(connection, path, at, ask) if thorough else None
            return Inspection(number, max(0, ask(NEWEST, ()) - at.last_id), problem)
        finally:
            connection.close()
    except (apsw.Error, files.Unusable, OSError, KeyError, ValueError) as exc:
        return Inspection(number, ask(NEWEST, ()), f"{exc or type(exc).__name__}")


def _problem(connection: apsw.Connection, path: str, at: catchup.Position, ask: Ask) -> str | None:
    checked = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if checked != [("ok",)]:
        return str(checked[0][0])
    if not seal.intact(path, read_only=True):
        return "it was changed by somebody else"
    # A real question: what integrity checks pass may still not answer.
    connection.execute("SELECT rowid FROM messages_fts WHERE messages_fts MATCH '\"a\" *' LIMIT 1").fetchall()
    if at.last_id > ask(NEWEST, ()):
        return "it is ahead of the messages"
    indexed = connection.execute("SELECT COUNT(*) FROM messages_fts_docsize").fetchall()[0][0]
    expected = ask(ROWS_UP_TO, (at.last_id,))
    if indexed != expected and not ask(PENDING, (at.last_change,)):
        return f"it holds {indexed} messages of {expected}"
    return None
