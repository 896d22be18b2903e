"""The conversation beside the list: lines that were drawn elsewhere, a current message, more of it on demand."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .transcript import Part, Transcript

_GUTTER = 2
_HERE = "▎ "


class Preview(ScrollView, can_focus=True, inherit_bindings=False):
    """A window of a conversation."""

    class Beyond(Message):
        """The edge of what is loaded is seen, and there is more."""

        def __init__(self, later: bool) -> None:
            super().__init__()
            self.later = later

    def __init__(self) -> None:
        super().__init__(id="preview")
        self.transcript: Transcript | None = None
        self.said = ""
        self.place = 0

    @property
    def columns(self) -> int:
        """What a message has; the scrollbar's column is always left free."""
        return max(10, self.content_size.width - _GUTTER - 1)

    def tell(self, said: str) -> None:
        """A sentence instead of a conversation."""
        self.transcript, self.said, self.place = None, said, 0
        self._fit()
        self.scroll_to(y=0, animate=False, force=True)

    def show(self, transcript: Transcript, message_id: int | None) -> None:
        """From a message on; without one from its end, or its first hit."""
        self.transcript, self.said = transcript, ""
        self._fit()
        wanted = message_id if message_id is not None else (transcript.hits or (None,))[0]
        place = transcript.place_of(wanted) if wanted is not None else None
        if place is None:
            self.place = max(0, len(transcript.parts) - 1)
            self.scroll_to(y=transcript.height, animate=False, force=True)
        else:
            self.go_to(place)
        self.refresh()

    def extend(self, parts: list[Part], *, later: bool) -> None:
        """More messages; what is seen stays where it is."""
        made = self.transcript
        if made is None:
            return
        if later:
            made.parts += parts
            made.has_later = bool(parts)
            made.settle()
            self._fit()
            return
        added = sum(len(part.lines) for part in parts)
        made.parts[:0] = parts
        made.has_earlier = bool(parts)
        made.settle()
        self.place += len(parts)
        at = self.scroll_offset.y + added
        self._fit()
        self.scroll_to(y=at, animate=False, force=True)

    def go_to(self, place: int) -> None:
        """Make a message the current one and show its beginning."""
        made = self.transcript
        if made is None or not made.parts:
            return
        self.place = max(0, min(place, len(made.parts) - 1))
        self.scroll_to(y=max(0, made.starts[self.place] - 1), animate=False, force=True)
        self.refresh()

    def scroll_by(self, lines: int) -> None:
        """Scroll; where that goes no further, the current message still moves."""
        made = self.transcript
        if made is None or not made.parts:
            return
        most, before = max(0, made.height - self.size.height), self.scroll_offset.y
        target = max(0, min(before + lines, most))
        self.scroll_to(y=target, animate=False, force=True)
        if target == before:
            self.place = max(0, min(self.place + (1 if lines > 0 else -1), len(made.parts) - 1))
        else:
            self.place = made.part_at(target)
        self._ask_beyond(target, most, lines)
        self.refresh()

    def _ask_beyond(self, target: int, most: int, lines: int) -> None:
        made = self.transcript
        if made is None:
            return
        if lines < 0 and target == 0 and made.has_earlier:
            self.post_message(self.Beyond(later=False))
        if lines > 0 and target == most and made.has_later:
            self.post_message(self.Beyond(later=True))

    def leap(self, pages: float) -> None:
        self.scroll_by(round(pages * max(1, self.size.height)))

    def fold(self, *, everything: bool) -> None:
        made = self.transcript
        if made is None or not made.parts:
            return
        if everything:
            made.toggle_all()
        else:
            made.toggle(self.place)
        self._fit()
        self.go_to(self.place)

    def _fit(self) -> None:
        self.virtual_size = Size(self.size.width, self.transcript.height if self.transcript else 1)
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        made = self.transcript
        if made is not None and made.columns != self.columns:
            made.redraw(self.columns)
            self._fit()
            self.go_to(self.place)

    def render_line(self, y: int) -> Strip:
        columns, made = self.scrollable_content_region.width, self.transcript
        number = y + self.scroll_offset.y
        if made is None:
            told = [Segment(f"  {self.said}", Style(dim=True))] if number == 0 else []
            return Strip(told).adjust_cell_length(columns, Style()).apply_style(self.rich_style)
        here = bool(made.parts) and number < made.height and made.part_at(number) == self.place
        gutter = Segment(_HERE if here else "  ", Style(color="cyan"))
        strip = Strip([gutter, *made.line(number)])
        return strip.adjust_cell_length(columns, Style()).crop(0, columns).apply_style(self.rich_style)
