"""The list of sessions: what is chosen, and the pages of it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

from rich.style import Style
from textual.widgets import Input

from . import changes, listing
from .choice import VIEWS, Choice
from .list_view import SessionList
from .pages import Pages
from .panes import Panes


class Lists(Panes):
    """Reads and shows lists."""

    def reload(self, at: int = 0, *, changed: bool = False) -> None:
        """Read the list anew; after a change the sentence about it stays."""
        choice, known = self.choice, self.known
        self.lists.ask(lambda: listing.first(self.db, choice, known), lambda done: self.show_list(done, at, changed))

    def show_list(self, done: Future[listing.Loaded], at: int = 0, changed: bool = False) -> None:
        loaded = self.result(done)
        if loaded is None:
            return
        self.loaded = loaded
        pages = Pages()
        pages.put(0, loaded.rows, loaded.total)
        self.previewed = None
        # A lineage is entered at the session it was asked for.
        begun = pages.find(self.choice.family) if self.choice.family and not changed else None
        self.sessions.show(pages, found=self.choice.searching, at=at if begun is None else begun)
        self.say_where()
        if not changed:
            self._say_found(loaded)

    def _say_found(self, loaded: listing.Loaded) -> None:
        if loaded.notices:
            self.say(loaded.notices[0], Style(color="yellow"))
        elif loaded.did_you_mean:
            self.say(f"Nothing found. Did you mean: {loaded.did_you_mean}")
        elif not loaded.rows:
            self.say("Nothing found." if self.choice.searching else "")
        elif loaded.scope != self.choice.scope:
            chosen = self.known[self.choice.scope]
            self.say(f"Nothing in this {chosen.name}; showing {self.known[loaded.scope].label}.")
        elif self.choice.searching and loaded.rows[0].partial:
            self.say("No message has all words; these have some (≈).")

    def on_session_list_wanted(self, event: SessionList.Wanted) -> None:
        loaded, choice, pages = self.loaded, self.choice, self.sessions.pages
        if loaded is None or choice.family is not None:
            return
        for offset in event.offsets:

            def read(offset: int = offset) -> listing.Loaded:
                return listing.page(self.db, choice, self.known, loaded.scope, offset)

            def show(done: Future[listing.Loaded], offset: int = offset) -> None:
                self._show_page(done, pages, offset)

            self.lists.also(read, show)

    def _show_page(self, done: Future[listing.Loaded], pages: Pages, offset: int) -> None:
        found = self.result(done)
        if found is None:
            pages.forget(offset)
            return
        pages.put(offset, found.rows, found.total)
        self.sessions.grown()

    def load_more_found(self) -> None:
        """A search goes on when its end is reached."""
        loaded, choice, pages = self.loaded, self.choice, self.sessions.pages
        if loaded is None or loaded.more is None or self.sessions.cursor < len(pages) - 1:
            return
        more = loaded.more
        self.loaded = replace(loaded, more=None)

        def show(done: Future[listing.Loaded]) -> None:
            found = self.result(done)
            if found is not None:
                known = {row.id for row in pages.loaded()}
                new = [row for row in found.rows if row.id not in known]
                pages.put(len(pages), new, len(pages) + len(new))
                self.loaded = replace(loaded, more=found.more)
                self.sessions.grown()
                self.say_where()

        self.lists.also(lambda: listing.page(self.db, choice, self.known, loaded.scope, more), show)

    def choose(self, choice: Choice) -> None:
        """Show something else."""
        self.choice = choice
        self.say()
        self.say_where()
        self.reload()

    def action_search(self) -> None:
        if self.focused is self.box:
            self.box.insert_text_at_cursor("/")
        self.set_focus(self.box)

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.value != self.choice.query:
            self.choose(replace(self.choice, query=event.value, family=None))

    def on_input_submitted(self) -> None:
        self.action_pane("list")

    def action_scope(self) -> None:
        shown = self.loaded.scope if self.loaded else self.choice.scope
        self.choose(replace(self.choice, scope=(shown + 1) % len(self.known), family=None))

    def action_order(self) -> None:
        self.choose(self.choice.next_order())

    def action_view(self) -> None:
        self.choose(self.choice.following("view", tuple(VIEWS)))

    def action_reload(self) -> None:
        self.reload(self.sessions.cursor, changed=True)

    def action_source(self) -> None:
        from .dialogs import Pick

        def pick(done: Future[list[tuple[str, int]]]) -> None:
            found = self.result(done)
            if found is not None:
                options = [("", "all sources"), *((name, f"{name} · {number:,}") for name, number in found)]
                values = [value for value, _ in options]
                chosen = self.choice.sources[0] if self.choice.sources else ""
                self.app.push_screen(
                    Pick("Only sessions of", options, values.index(chosen) if chosen in values else 0), take
                )

        def take(source: str | None) -> None:
            if source is not None:
                self.choose(replace(self.choice, sources=(source,) if source else (), family=None))

        self.talks.also(lambda: listing.sources(self.db), pick)

    def action_tags(self) -> None:
        from .dialogs import Ask

        def take(text: str | None) -> None:
            if text is not None:
                self.choose(replace(self.choice, tags=tuple(changes.wanted_tags(text)[0]), family=None))

        self.app.push_screen(
            Ask("Only sessions with all these tags", " ".join(self.choice.tags), "empty: all sessions"), take
        )

    def action_tree(self) -> None:
        row = self.sessions.current
        if row is not None:
            self.choose(replace(self.choice, family=None if self.choice.family else row.id))
