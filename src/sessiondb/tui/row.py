"""A session as a line of the list. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..cli.output import ago
from ..cli.text import cut, line, pad, width

# (text, name of its style)
Piece = tuple[str, str]
MARKED, PINNED, ARCHIVED, PARTIAL = "●", "★", "▫", "≈"
_WHEN, _SOURCE = 10, 9
_ROOM_FOR_WHEN, _ROOM_FOR_SOURCE = 36, 56


@dataclass(frozen=True)
class Row:
    """What the list keeps of a session; its long texts stay in the store."""

    id: str
    title: str | None
    preview: str
    source: str
    when: float
    messages: int = 0
    pinned: bool = False
    archived: bool = False
    # Of a search: why it was found.
    snippet: str = ""
    hits: tuple[int, ...] = ()
    partial: bool = False
    # Of a lineage: how it hangs on its parent.
    branch: str = ""

    @property
    def name(self) -> str:
        return line(self.title or self.preview or self.id)


def row_of(session: Mapping[str, Any], **found: Any) -> Row:
    return Row(
        session["id"],
        session["title"],
        line(session.get("preview") or "")[:300],
        session["source"],
        session.get("last_active") or session["started_at"],
        session.get("message_count") or 0,
        bool(session["pinned_at"]),
        bool(session["archived_at"]),
        **found,
    )


def lines(row: Row | None, columns: int, now: float, *, marked: bool, found: bool) -> list[list[Piece]]:
    """One line; two with what was found. Each takes at most so many columns."""
    if row is None:
        return [[("  …", "dim")]] + [[]] * found
    first = [_mark(row, marked), *_told(row, columns - 2, now)]
    return [first, [("    ", ""), *snippet(row.snippet, columns - 4)]] if found else [first]


def _mark(row: Row, marked: bool) -> Piece:
    if marked:
        return f"{MARKED} ", "mark"
    if row.pinned:
        return f"{PINNED} ", "pin"
    if row.partial:
        return f"{PARTIAL} ", "dim"
    return (f"{ARCHIVED} " if row.archived else "  "), "dim"


def _told(row: Row, columns: int, now: float) -> list[Piece]:
    when = _WHEN if columns >= _ROOM_FOR_WHEN else 0
    source = _SOURCE if columns >= _ROOM_FOR_SOURCE else 0
    branch = cut(line_kept(row.branch), columns // 2)
    room = max(0, columns - when - source - width(branch) - (1 if when else 0))
    # An untitled session is told by its first words, or a search by what it found.
    style = "dim" if row.archived else "title" if row.title else "untitled"
    pieces = [(branch, "dim"), (pad(cut(row.name, room), room), style)]
    if when:
        pieces.append((" ", ""))
    if source:
        pieces.append((pad(cut(line(row.source), source - 1), source), "source"))
    if when:
        pieces.append((pad(cut(ago(row.when, now), when), when), "dim"))
    return pieces


def line_kept(text: str) -> str:
    """One line whose blanks are kept: they draw a tree."""
    return text.replace("\n", " ")


def snippet(text: str, columns: int) -> list[Piece]:
    """What was found, marked; cut where the line ends."""
    from ..search.snippet import CLOSE, OPEN

    pieces: list[Piece] = []
    room, marked = columns, False
    for part in re.split(f"({re.escape(OPEN)}|{re.escape(CLOSE)})", line(text)):
        if part in (OPEN, CLOSE):
            marked = part == OPEN
        elif part and room > 0:
            shown = cut(part, room)
            pieces.append((shown, "found" if marked else "dim"))
            room -= width(shown) if shown == part else room
    return pieces
