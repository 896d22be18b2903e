"""`sessiondb list`"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..db import SessionDB
from ..models import Filter, ListedSession
from ..values import replace
from . import answers, ink, options, output, records, terminal
from .selection import HIDDEN_SOURCES
from .text import cut, line, pad, width

Row = Mapping[str, Any]

_WHEN = 13
_SOURCE = 6
# Where nobody's terminal limits them.
_TITLE, _PREVIEW, _LONE_PREVIEW = 32, 40, 50
_WIDEST_PREVIEW = 66
# Longer ids, as other agents give them, make room on a narrow terminal: a beginning that is unique names a session too.
_LONG_ID = 24
_SHORT_ID = 13
_ROOM_FOR_WORDS = 44


@options.command("list")
@options.selecting
@options.limit(20, "sessions")
@options.option(
    "--order",
    choices=("activity", "started"),
    default="activity",
    show_default=True,
    help="What comes first.",
)
@options.flag("--archived", help="Only archived sessions.")
@options.flag("--trash", help="Only deleted sessions, which `undelete` brings back.")
@options.flag("--all", "everything", help="Archived sessions, sub-agents' and tools' too.")
@options.answers
@options.reading
def command(
    db: SessionDB,
    where: Filter,
    limit: int,
    order: str,
    archived: bool,
    trash: bool,
    everything: bool,
    form: answers.Form,
) -> None:
    """Show sessions, the last active first.

    \b
    Example:
        sessiondb list
        sessiondb list --source telegram --since 7d --limit 50
        sessiondb list --cwd . --json
    """
    if trash:
        found: Sequence[Row] = db.list_trash(limit + 1)
    else:
        where = replace(where, archived=True if archived else None if everything else False)
        found = _listed(db, where, limit + 1, order, everything)
    shown, more = found[:limit], len(found) > limit
    if form:
        answers.give(form, "list", {"sessions": [records.session(row) for row in shown]}, records="sessions")
    elif shown:
        _show(shown, _ids(db, shown, trash), trash=trash)
        if more and terminal.columns():
            output.say(ink.dim(f"There are more: --limit {limit * 2}, or --since and --source to choose."))
    else:
        output.say(_nothing(where, archived=archived, trash=trash))


def _listed(db: SessionDB, where: Filter, limit: int, order: str, everything: bool) -> list[ListedSession]:
    hidden = None if where.sources or everything else HIDDEN_SOURCES
    return db.list_sessions_rich(None, hidden, limit, include_children=everything, order_by=order, where=where)


def _nothing(where: Filter, *, archived: bool, trash: bool) -> str:
    if trash:
        return "The trash is empty."
    chosen = (where.sources, where.active_since, where.active_until, where.tags, where.cwd)
    if not any(chosen):
        return "No archived sessions." if archived else "No sessions yet."
    named = f" of source {', '.join(map(repr, where.sources))}" if where.sources and not any(chosen[1:]) else ""
    return f"No sessions{named}." if named else "No sessions match."


def _ids(db: SessionDB, rows: Sequence[Row], trash: bool) -> list[str]:
    """The ids as shown: whole, or where that would leave no room for words, as much as tells a session from others."""
    whole = [line(row["id"]) for row in rows]
    room = terminal.columns()
    if trash or room is None or room - _WHEN - max(map(width, whole)) >= _ROOM_FOR_WORDS:
        return whole
    return [each if len(each) <= _LONG_ID else _shortest(db, row["id"]) for each, row in zip(whole, rows, strict=True)]


def _shortest(db: SessionDB, session_id: str) -> str:
    for length in range(_SHORT_ID, len(session_id), 5):
        if len(db.provider.find_ids(session_id[:length], 2)) == 1:
            return line(session_id[:length])
    return line(session_id)


def _show(rows: Sequence[Row], ids: Sequence[str], *, trash: bool) -> None:
    now = time.time()
    shown = [{**row, "id": each} for row, each in zip(rows, ids, strict=True)]
    lines = _titled(shown, now, trash) if trash or any(row["title"] for row in rows) else _untitled(shown, now)
    output.say(ink.bold("".join(lines[0])))
    widest = max(width("".join(pieces)) for pieces in lines[1:])
    output.say(ink.dim("─" * min(widest, terminal.columns() or widest)))
    for pieces in lines[1:]:
        output.say(*pieces)


def _titled(rows: Sequence[Row], now: float, trash: bool) -> list[list[str]]:
    """With titles, where any session has one."""
    title, preview = _shares(rows, trash)
    when = "Deleted" if trash else "Last Active"
    head = [_cell("Title", title), "" if trash else _cell("Preview", preview), _cell(when, _WHEN), "ID"]
    return [head, *(_titled_row(row, now, title, 0 if trash else preview) for row in rows)]


def _titled_row(row: Row, now: float, title: int, preview: int) -> list[str]:
    then = row.get("deleted_at") or row.get("last_active") or row["started_at"]
    return [
        _faded(row, _cell(row["title"] or "—", title)),
        ink.dim(_cell(row["preview"], preview)) if preview else "",
        _cell(output.ago(then, now), _WHEN),
        ink.dim(line(row["id"])),
    ]


def _untitled(rows: Sequence[Row], now: float) -> list[list[str]]:
    """With sources, where no session has a title."""
    room = terminal.columns()
    taken = _WHEN + _SOURCE + _id_width(rows)
    preview = _LONE_PREVIEW if room is None else max(12, min(room - taken, _WIDEST_PREVIEW))
    head = [_cell("Preview", preview), _cell("Last Active", _WHEN), _cell("Src", _SOURCE), "ID"]
    return [head, *(_untitled_row(row, now, preview) for row in rows)]


def _untitled_row(row: Row, now: float, preview: int) -> list[str]:
    return [
        _faded(row, _cell(row["preview"], preview)),
        _cell(output.ago(row.get("last_active") or row["started_at"], now), _WHEN),
        _cell(row["source"], _SOURCE),
        ink.dim(line(row["id"])),
    ]


def _shares(rows: Sequence[Row], trash: bool) -> tuple[int, int]:
    """How wide titles and previews are."""
    room = terminal.columns()
    if room is None:
        return _TITLE, _PREVIEW
    left = room - _WHEN - _id_width(rows)
    longest = max(width(line(row["title"] or "")) for row in rows) + 2
    if trash:
        return max(10, min(longest, left)), 0
    title = max(10, min(longest, left * 4 // 9), left - _WIDEST_PREVIEW)
    title = min(title, max(longest, 10))
    return title, max(10, min(left - title, _WIDEST_PREVIEW))


def _id_width(rows: Sequence[Row]) -> int:
    return max(width(line(row["id"])) for row in rows)


def _faded(row: Row, cell: str) -> str:
    return ink.dim(cell) if row.get("archived_at") else cell


def _cell(text: object, columns: int) -> str:
    """Exactly so many columns, one of them blank at the end."""
    return pad(cut(line(text), columns - 1), columns)
