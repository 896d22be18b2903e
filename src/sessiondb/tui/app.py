"""The application: one main screen, no mouse needed, no markup in what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from textual.app import App

from ..db import SessionDB
from .browser import Browser
from .choice import Choice
from .listing import Loaded
from .scope import Scope

_STYLES = """
Screen { background: $background; }
#top { height: 1; background: $primary-background; color: $text; }
#search { height: 1; border: none; padding: 0 1; background: $surface; }
#body { height: 1fr; layout: vertical; }
#list, #preview, .box VerticalScroll, Help .box { scrollbar-size-vertical: 1; }
#list { height: 2fr; width: 100%; overflow-x: hidden; background: $background; }
#preview { height: 3fr; width: 100%; overflow-x: hidden; border: round $foreground 30%; background: $background; }
#preview { border-title-color: $text; border-title-style: bold; border-subtitle-color: $text-muted; }
#preview:focus { border: round $accent; }
#list > .list--cursor { background: $panel; }
#list:focus > .list--cursor { background: $primary; color: $text; }
#status { height: 1; padding: 0 1; }
.-wide #body { layout: horizontal; }
.-wide #list { width: 2fr; height: 100%; }
.-wide #preview { width: 3fr; height: 100%; }
.zoomed #list { display: none; }
Ask, Pick, Help { align: center middle; }
.box { width: 64; max-width: 100%; height: auto; max-height: 100%; padding: 0 1; }
.box { border: round $accent; background: $surface; }
.box Input { margin: 1 0; }
.box VerticalScroll { height: auto; max-height: 16; }
"""


class BrowserApp(App[str]):
    """Ends with the id of the session to take up, or None."""

    CSS = _STYLES
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 (theirs)

    def __init__(
        self,
        db: SessionDB,
        choice: Choice,
        known: Sequence[Scope],
        *,
        read_only: bool = False,
        early: Future[Loaded],
    ) -> None:
        super().__init__()
        self.title = "sessiondb"
        self.browser = Browser(db, choice, known, read_only=read_only, early=early)

    def get_default_screen(self) -> Browser:
        return self.browser
