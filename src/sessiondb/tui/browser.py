"""The browser's main screen: keys, moving, leaving, copying, and the screens above it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from ..agents import resumption
from ..cli.text import cut, line
from ..errors import SessionDBError
from .blocks import code_of
from .changing import Changing
from .keys import ALL


class Browser(Changing):
    """Its result is the session to take up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, key.action, key.what, show=False, priority=key.at_once) for key in ALL
    ]

    def on_mount(self) -> None:
        self.say()
        if self._early is not None and self._early.done():
            self.show_list(self._early)
        else:
            self.reload()
        self._early = None

    def action_move(self, step: int) -> None:
        if self.in_preview:
            self.preview.scroll_by(step)
            self.tell_hits()
        else:
            self.sessions.move(step)

    def action_leap(self, pages: float) -> None:
        if self.in_preview:
            self.preview.leap(pages)
        else:
            self.sessions.leap(pages)

    def action_edge(self, side: int) -> None:
        if not self.in_preview:
            self.sessions.edge(side)
            return
        made = self.preview.transcript
        if made is None or not made.parts:
            return
        if (side > 0 and made.has_later) or (side < 0 and made.has_earlier):
            self._go_to_edge(side)
        else:
            self.preview.scroll_by(side * made.height)
            self.preview.place = len(made.parts) - 1 if side > 0 else 0

    def action_other_pane(self) -> None:
        self.action_pane("list" if self.in_preview else "preview")

    def action_zoom(self) -> None:
        self.toggle_class("zoomed")
        self.action_pane("preview" if self.has_class("zoomed") else "list")

    def action_back(self) -> None:
        """One step back: out of the box or the conversation, then marks, lineage, words."""
        if self.focused is not self.sessions:
            self.remove_class("zoomed")
            self.action_pane("list")
        elif self.sessions.marked:
            self.sessions.marked.clear()
            self.sessions.refresh()
            self.say_where()
        elif self.choice.family is not None:
            self.choose(replace(self.choice, family=None))
        elif self.choice.query:
            self.box.value = ""

    def action_resume(self) -> None:
        if self.sessions.current is not None:
            self.app.exit(self.sessions.current.id)

    def action_leave(self) -> None:
        self.app.exit(None)

    def action_copy_id(self) -> None:
        ids = "\n".join(row.id for row in self.meant())
        if ids:
            self.copy(ids, "id")

    def action_copy_command(self) -> None:
        import shlex

        made = self.preview.transcript
        if made is None:
            return
        try:
            there = resumption(made.session)
        except SessionDBError as exc:
            self.complain(exc)
            return
        self.copy(there.line if there else f"sessiondb resume {shlex.quote(made.session['id'])}", "command")

    def action_copy_code(self) -> None:
        """A code block of the current message; pressed again, the next one."""
        made = self.preview.transcript
        found = code_of(made.parts[self.preview.place].message) if made and made.parts else []
        if not found:
            self.say("No code block in this message; [ and ] go to others.")
            return
        place = self.copied % len(found)
        self.copied += 1
        self.copy(found[place], f"code block {place + 1} of {len(found)}")

    def copy(self, text: str, what: str) -> None:
        self.app.copy_to_clipboard(text)
        self.say(f"Copied the {what}: {cut(line(text), 60)}")

    def action_insights(self) -> None:
        from .insights_screen import InsightsScreen

        self.app.push_screen(InsightsScreen(self.db))

    def action_help(self) -> None:
        from .dialogs import Help

        self.app.push_screen(Help(self.read_only))

    def on_resize(self, event: events.Resize) -> None:
        self.say_where()
