"""Marks and changes: every change is made beside the screen and can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import wraps
from typing import TypeVar

from rich.style import Style

from ..cli.output import count
from ..errors import SessionDBError
from . import changes
from .row import Row
from .talks import Talks

C = TypeVar("C", bound="Changing")
READ_ONLY = "This store is opened read-only; nothing can be changed here."


def writes(action: Callable[[C], None]) -> Callable[[C], None]:
    """An action that a read-only store refuses."""

    @wraps(action)
    def guarded(self: C) -> None:
        if self.read_only:
            self.say(READ_ONLY, Style(color="yellow"))
        else:
            action(self)

    return guarded


class Changing(Talks):
    """Renames, tags, pins, archives, deletes, and takes back."""

    def action_mark(self) -> None:
        self.sessions.toggle()
        self.sessions.move(1)
        self.say_where()

    def action_mark_all(self) -> None:
        every = {row.id for row in self.sessions.pages.loaded()}
        self.sessions.marked = set() if self.sessions.marked >= every else every
        self.sessions.refresh()
        self.say_where()

    def meant(self) -> list[Row]:
        """The marked sessions, in the order of the list, or the one under the cursor."""
        marked = [row for row in self.sessions.pages.loaded() if row.id in self.sessions.marked]
        here = self.sessions.current
        return marked or ([here] if here is not None else [])

    def change(self, make: Callable[[], changes.Change]) -> None:
        """Make a change beside the screen; others may hold the store for a while."""

        def show(done: Future[changes.Change]) -> None:
            made = self.result(done)
            if made is not None:
                self.undo.push(made)
                self.sessions.marked.clear()
                self.say(made.said if made.problem is None else f"{made.said} Then: {made.problem}")
                self.action_reload()

        self.say("Writing …", Style(dim=True))
        self.writes.add(make, show)

    @writes
    def action_rename(self) -> None:
        from .dialogs import Ask

        row = self.sessions.current
        if row is None:
            return

        def take(title: str | None) -> None:
            if title is not None and title != (row.title or ""):
                self.change(lambda: changes.rename(self.db, row.id, title))

        self.app.push_screen(Ask("Title", row.title or "", "empty: no title"), take)

    @writes
    def action_tag(self) -> None:
        from .dialogs import Ask

        ids = [row.id for row in self.meant()]
        if not ids:
            return

        def take(text: str | None) -> None:
            add, remove = changes.wanted_tags(text or "")
            if add or remove:
                self.change(lambda: changes.tag(self.db, ids, add, remove))

        has = self.preview.transcript.tags if self.preview.transcript and len(ids) == 1 else ()
        self.app.push_screen(
            Ask(f"Tags for {count(len(ids), 'session')}", "", f"add -remove   now: {' '.join(has) or '—'}"), take
        )

    @writes
    def action_pin(self) -> None:
        rows = self.meant()
        ids, on = [row.id for row in rows], not all(row.pinned for row in rows)
        if ids:
            self.change(lambda: changes.pin(self.db, ids, on))

    @writes
    def action_archive(self) -> None:
        rows = self.meant()
        ids, on = [row.id for row in rows], not all(row.archived for row in rows)
        if ids:
            self.change(lambda: changes.archive(self.db, ids, on))

    @writes
    def action_delete(self) -> None:
        ids = [row.id for row in self.meant()]
        if ids:
            self.change(lambda: changes.delete(self.db, ids))

    @writes
    def action_undo(self) -> None:
        last = self.undo.pop()
        if last is None:
            self.say("There is nothing to take back.")
            return

        def show(done: Future[str]) -> None:
            try:
                self.say(done.result())
            except SessionDBError as exc:
                self.undo.push(last)
                self.complain(exc)
            self.action_reload()

        self.writes.add(last.undo, show)
