"""What the parts of the browser's screen share: its panes, its lines of text, the lanes beside it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import TypeVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Input, Static

from ..cli.text import line, safe
from ..db import SessionDB
from ..errors import Closed, SessionDBError
from . import changes, listing
from .choice import Choice
from .keys import HINTS
from .lane import Lane, Queue
from .list_view import SessionList
from .preview import Preview
from .scope import Scope

T = TypeVar("T")
_ERROR = Style(color="red", bold=True)


class Panes(Screen[str]):
    """List, conversation, search box, a line above and one below."""

    AUTO_FOCUS = "#list"

    def __init__(
        self, db: SessionDB, choice: Choice, known: Sequence[Scope], *, read_only: bool, early: Future[listing.Loaded]
    ) -> None:
        super().__init__(id="browser")
        self.db, self.choice, self.known, self.read_only = db, choice, known, read_only
        self.loaded: listing.Loaded | None = None
        self.undo = changes.Undo()
        self._early: Future[listing.Loaded] | None = early
        self.lists, self.talks = Lane(self.call_later), Lane(self.call_later)
        self.writes = Queue(self.call_later)
        self.previewed: tuple[str, str] | None = None
        self.copied = 0

    def compose(self) -> ComposeResult:
        yield Static(id="top", markup=False)
        yield Input(self.choice.query, placeholder="/ search", id="search", compact=True, select_on_focus=False)
        with Container(id="body"):
            yield SessionList()
            yield Preview()
        yield Static(id="status", markup=False)

    def on_unmount(self) -> None:
        self.lists.close()
        self.talks.close()
        self.writes.close()

    @property
    def sessions(self) -> SessionList:
        return self.query_one(SessionList)

    @property
    def preview(self) -> Preview:
        return self.query_one(Preview)

    @property
    def box(self) -> Input:
        return self.query_one("#search", Input)

    @property
    def in_preview(self) -> bool:
        return self.focused is self.preview

    def action_pane(self, name: str) -> None:
        self.set_focus(self.preview if name == "preview" else self.sessions)

    def say(self, sentence: object = "", style: Style | None = None) -> None:
        """The line at the bottom: what happened, or what the keys are."""
        shown = Text(line(sentence), style or Style()) if sentence else Text(HINTS, Style(dim=True))
        shown.no_wrap, shown.overflow = True, "ellipsis"
        self.query_one("#status", Static).update(shown)

    def complain(self, error: SessionDBError) -> None:
        self.say(error, _ERROR)

    def say_where(self) -> None:
        """The line at the top."""
        loaded = self.loaded
        scope = self.known[loaded.scope if loaded else self.choice.scope]
        told = Text(no_wrap=True, overflow="ellipsis")
        if self.choice.family is not None:
            told.append(" lineage", Style(bold=True))
        else:
            told.append(f" {safe(scope.label)}", Style(bold=True))
            told.append(f" · {line(self.choice.label())}")
        if loaded is not None:
            more = "+" if loaded.more is not None else ""
            told.append(f" · {len(self.sessions.pages):,}{more} session{'s' * (len(self.sessions.pages) != 1)}")
        if self.sessions.marked:
            told.append(f" · {len(self.sessions.marked)} marked", Style(color="magenta", bold=True))
        if self.read_only:
            told.append(" · read-only", Style(color="yellow"))
        self.query_one("#top", Static).update(told)

    def result(self, done: Future[T]) -> T | None:
        """What a thread found; its complaint is shown."""
        try:
            return done.result()
        except Closed:
            return None
        except SessionDBError as exc:
            self.complain(exc)
            return None
