"""The list: draws only the lines that are seen, and asks for the pages they need."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .pages import Pages
from .row import Row, lines

_STYLES = {
    "": Style(),
    "dim": Style(dim=True),
    "title": Style(bold=True),
    "untitled": Style(),
    "source": Style(color="cyan"),
    "mark": Style(color="magenta", bold=True),
    "pin": Style(color="yellow"),
    "found": Style(color="yellow", bold=True),
}


class SessionList(ScrollView, can_focus=True, inherit_bindings=False):
    """Sessions, one or two lines each, with a cursor and marks."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"list--cursor"}
    cursor: reactive[int] = reactive(0, init=False)

    class Moved(Message):
        """The cursor is on another session."""

    class Wanted(Message):
        """Pages are missing that would be seen."""

        def __init__(self, offsets: list[int]) -> None:
            super().__init__()
            self.offsets = offsets

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__(id="list")
        self.pages = Pages()
        self.marked: set[str] = set()
        self.found = False
        self._clock = clock

    @property
    def each(self) -> int:
        """Lines per session."""
        return 2 if self.found else 1

    @property
    def current(self) -> Row | None:
        return self.pages[self.cursor]

    def show(self, pages: Pages, *, found: bool, at: int = 0) -> None:
        """Another list; the cursor at a place of it."""
        self.pages, self.found = pages, found
        self._fit()
        self.set_reactive(SessionList.cursor, max(0, min(at, len(pages) - 1)))
        self.scroll_to(y=0, animate=False, force=True)
        self._follow()
        self.refresh()
        self.post_message(self.Moved())

    def grown(self) -> None:
        """The pages hold more, or less, than before."""
        self._fit()
        if self.cursor >= len(self.pages):
            self.cursor = max(0, len(self.pages) - 1)
        self._follow()
        self.refresh()
        self.post_message(self.Moved())

    def move(self, step: int) -> None:
        self.cursor = max(0, min(self.cursor + step, len(self.pages) - 1))

    def leap(self, pages: float) -> None:
        self.move(round(pages * max(1, self.size.height // self.each)))

    def edge(self, side: int) -> None:
        self.cursor = max(0, len(self.pages) - 1) if side > 0 else 0

    def toggle(self) -> None:
        if self.current is not None:
            self.marked ^= {self.current.id}
            self.refresh()

    def watch_cursor(self) -> None:
        self._follow()
        self.refresh()
        self.post_message(self.Moved())

    def _fit(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.pages) * self.each)

    def _follow(self) -> None:
        """Scroll so that the cursor is seen, and have what is seen loaded."""
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        first, last = self.cursor * self.each, (self.cursor + 1) * self.each
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
            top = first
        elif last > top + height:
            self.scroll_to(y=last - height, animate=False, force=True)
            top = last - height
        # A page ahead, so that a cursor that is held down meets no blanks.
        seen = range(top // self.each - height, (top + 2 * height) // self.each + 1)
        wanted = self.pages.missing((self.cursor, *seen))
        if wanted:
            self.post_message(self.Wanted(wanted))

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        self._follow()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        wanted = self.pages.missing(
            range(int(new_value) // self.each, (int(new_value) + self.size.height) // self.each + 1)
        )
        if wanted:
            self.post_message(self.Wanted(wanted))

    def on_click(self, event: events.Click) -> None:
        place = (event.y + self.scroll_offset.y) // self.each
        if 0 <= place < len(self.pages):
            self.cursor = place

    def render_line(self, y: int) -> Strip:
        place, part = divmod(y + self.scroll_offset.y, self.each)
        columns = self.scrollable_content_region.width
        if place >= len(self.pages):
            return Strip.blank(columns, self.rich_style)
        row = self.pages[place]
        marked = row is not None and row.id in self.marked
        pieces = lines(row, columns, self._clock(), marked=marked, found=self.found)[part]
        strip = Strip([Segment(text, _STYLES[style]) for text, style in pieces if text])
        here = place == self.cursor
        style = self.get_component_rich_style("list--cursor") if here else self.rich_style
        return strip.adjust_cell_length(columns, Style()).crop(0, columns).apply_style(style)
