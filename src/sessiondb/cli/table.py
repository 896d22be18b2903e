"""Columns that stay in line, whatever the script, and fit the terminal where there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..values import dataclass
from . import ink, output, terminal
from .text import cut, line, width

GAP = "  "
Style = Callable[[object], ink.Ink]


@dataclass(frozen=True)
class Column:
    """`share` columns give way on a narrow terminal and take what a wide one has; others are as wide as they must."""

    heading: str
    share: int = 0
    least: int = 0
    most: int | None = None
    right: bool = False
    style: Style | None = None


def show(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, heading: bool = True) -> None:
    """Print rows under their headings; a column that is empty everywhere is left out."""
    used = [at for at, _ in enumerate(columns) if any(row[at] for row in rows)]
    columns = [columns[at] for at in used]
    cells = [[ink.like(row[at], line(row[at])) for at in used] for row in rows]
    widths = _widths(columns, cells)
    if heading:
        _say_row(columns, [ink.bold(column.heading) for column in columns], widths)
        output.say(ink.dim("─" * (sum(widths) + len(GAP) * (len(widths) - 1))))
    for row in cells:
        _say_row(columns, [_styled(column, cell) for column, cell in zip(columns, row, strict=True)], widths)


def _styled(column: Column, cell: str) -> str:
    return column.style(cell) if column.style and not isinstance(cell, ink.Ink) else cell


def _say_row(columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int]) -> None:
    pieces: list[str] = []
    for column, cell, room in zip(columns, cells, widths, strict=True):
        text = cut(cell, room)
        blank = " " * (room - width(text))
        last = column is columns[-1]
        pieces += [blank, ink.like(cell, text)] if column.right else [ink.like(cell, text), "" if last else blank]
        pieces += [] if last else [GAP]
    while pieces and not pieces[-1].strip():
        pieces.pop()
    output.say(*pieces)


def _widths(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> list[int]:
    natural = [
        max(width(column.heading), *(width(row[at]) for row in cells)) if cells else width(column.heading)
        for at, column in enumerate(columns)
    ]
    wanted = [min(own, column.most or own) for own, column in zip(natural, columns, strict=True)]
    room = terminal.columns()
    if room is None:
        return wanted
    return _shrunk(columns, wanted, room - len(GAP) * (len(columns) - 1))


def _shrunk(columns: Sequence[Column], wanted: list[int], room: int) -> list[int]:
    """Take columns from the widest of those that give way until all fit."""
    widths = list(wanted)
    while sum(widths) > room:
        giving = [at for at, column in enumerate(columns) if column.share and widths[at] > max(column.least, 4)]
        if not giving:
            break
        widest = max(giving, key=lambda at: widths[at] / columns[at].share)
        widths[widest] -= 1
    return widths
