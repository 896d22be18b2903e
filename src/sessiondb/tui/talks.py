"""The conversation under the cursor: read, hits, folds."""

from __future__ import annotations

from concurrent.futures import Future

from rich.text import Text

from ..cli.output import count
from ..cli.text import cut, line
from ..errors import SessionDBError
from . import transcript
from .choice import Choice
from .lists import Lists
from .preview import Preview

_EMPTY = "No sessions yet: `sessiondb import` brings those of other agents, `sessiondb demo` shows some."


class Talks(Lists):
    """Reads and shows conversations."""

    def on_session_list_moved(self) -> None:
        # The cursor is painted before anybody begins to read.
        self.call_after_refresh(self.show_current)
        self.load_more_found()

    def show_current(self, at: int | None = None) -> None:
        row = self.sessions.current
        if row is None:
            self.previewed = None
            empty = not len(self.sessions.pages)
            self.talks.ask(lambda: None, lambda done: None)
            self.preview.tell(self._nothing() if empty else "…")
            return
        query = self.choice.query if self.choice.searching else ""
        if at is None and self.previewed == (row.id, query):
            return
        self.previewed = (row.id, query)
        columns = self.preview.columns
        self.talks.ask(
            lambda: transcript.read(self.db, row.id, columns, query=query, hits=row.hits, at=at),
            lambda done: self._show_talk(done, at),
        )

    def _nothing(self) -> str:
        plain = self.choice == Choice(scope=self.choice.scope, order=self.choice.order)
        return _EMPTY if plain else "Nothing here."

    def _show_talk(self, done: Future[transcript.Transcript], at: int | None) -> None:
        try:
            made = done.result()
        except SessionDBError as exc:
            self.preview.tell(line(exc))
            return
        self.copied = 0
        if made.columns != self.preview.columns:
            made.redraw(self.preview.columns)
        self.preview.show(made, at)
        title = " · ".join(filter(None, [made.session["title"], *(f"#{tag}" for tag in made.tags)]))
        self.preview.border_title = Text(line(title or made.session["id"]))
        self.tell_hits()

    def tell_hits(self) -> None:
        made = self.preview.transcript
        if made is None:
            return
        facts = [made.session["id"], made.session["model"], count(made.session["message_count"], "message")]
        if made.hits:
            here = made.parts[self.preview.place].message["id"] if made.parts else None
            number = f"{made.hits.index(here) + 1}/" if here in made.hits else ""
            facts.append(f"hit {number}{len(made.hits)}" if number else count(len(made.hits), "hit"))
        told = line(" · ".join(str(fact) for fact in facts if fact))
        self.preview.border_subtitle = Text(cut(told, max(10, self.preview.size.width - 4)))

    def on_preview_beyond(self, event: Preview.Beyond) -> None:
        made = self.preview.transcript
        if made is None or not made.parts:
            return

        def show(done: Future[list[transcript.Part]]) -> None:
            parts = self.result(done)
            if parts is not None and self.preview.transcript is made:
                self.preview.extend(parts, later=event.later)

        # Asked once; set again by what comes.
        made.has_later, made.has_earlier = made.has_later and not event.later, made.has_earlier and event.later
        self.talks.also(lambda: transcript.extended(self.db, made, later=event.later), show)

    def _go_to_edge(self, side: int) -> None:
        """The first or last message may not be loaded."""
        made = self.preview.transcript
        if made is None:
            return
        session_id, columns, query = made.session["id"], self.preview.columns, self.choice.query

        def read() -> transcript.Transcript:
            edge = self.db.get_messages(session_id, limit=1, newest=side > 0)
            return transcript.read(self.db, session_id, columns, query=query, hits=made.hits, at=edge[0]["id"])

        def show(done: Future[transcript.Transcript]) -> None:
            found = self.result(done)
            if found is not None:
                place = len(found.parts) - 1 if side > 0 else 0
                self.preview.show(found, found.parts[place].message["id"])

        self.talks.ask(read, show)

    def action_hit(self, step: int) -> None:
        made = self.preview.transcript
        if made is None:
            return
        here = made.parts[self.preview.place].message["id"] if made.parts else None
        wanted = transcript.following_hit(made.hits, here, step)
        if wanted is None:
            self.say("There are no hits here; / searches.")
            return
        place = made.place_of(wanted)
        if place is None:
            self.show_current(at=wanted)
        else:
            self.preview.go_to(place)
            self.tell_hits()

    def action_message(self, step: int) -> None:
        self.preview.go_to(self.preview.place + step)
        self.tell_hits()

    def action_fold(self) -> None:
        self.preview.fold(everything=False)

    def action_fold_all(self) -> None:
        self.preview.fold(everything=True)
