"""The recap of a conversation as a panel: dim, so that it is not taken for what is being said now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..recap import Entry, Recap
from . import conversation, ink, output, terminal
from .text import cut, safe, width, wrapped

HEADING = "Previous Conversation"
# Lines that are longer are hard to read.
_WIDEST = 100
# Where the size is unknown, and where a frame would leave no room for words.
_USUAL, _NARROW = 80, 30

Row = Sequence[str]


def show(made: Recap) -> None:
    """On a terminal in a frame; elsewhere the lines alone."""
    columns = terminal.columns()
    if columns is None or columns < _NARROW:
        for row in rows(made, max(columns or _USUAL, 10)):
            output.say(*row)
        output.say()
        return
    room = min(columns, _WIDEST) - 4
    heading = cut(f" {HEADING} ", room)
    # No border on the right: terminals disagree about the width of emoji.
    output.say(ink.dim("╭─" + heading + "─" * (room - width(heading))))
    for row in rows(made, room):
        output.say(ink.dim("│ "), *row)
    output.say(ink.dim("╰" + "─" * (room + 1)))


def rows(made: Recap, room: int) -> Iterator[Row]:
    """The lines of a recap, each as pieces that know their style and together fit the room."""
    if made.notice:
        yield (ink.dim(cut(made.notice, room)),)
        yield ()
    if not made.entries:
        yield (ink.dim(cut("Nothing was said.", room)),)
    for number, entry in enumerate(made.entries):
        if number and entry.role == "user":
            yield ()
        yield from _entry_rows(entry, room)


def _entry_rows(entry: Entry, room: int) -> Iterator[Row]:
    said = "\n".join(filter(None, (safe(entry.text), safe(entry.tools))))
    for number, text in enumerate(wrapped(said, room - 2)):
        yield (conversation.mark(entry.role) if number == 0 else " ", " ", ink.dim(text))
