"""The part of a conversation that is on the screen: some messages around a place, their lines, and the hits among them.

Long conversations are read a window at a time. No Textual here; the reading runs beside the screen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..db import SessionDB
from ..errors import NotFound
from ..models import Filter, MessageRow, SessionRow
from .choice import completed, words
from .drawing import Line, drawn

WINDOW = 40
MOST_HITS = 500


@dataclass
class Part:
    """A message with its lines."""

    message: MessageRow
    lines: list[Line]
    opened: bool = False

    @property
    def seq(self) -> int:
        return self.message["seq"] or 0


@dataclass
class Transcript:
    session: SessionRow
    tags: Sequence[str]
    columns: int
    parts: list[Part] = field(default_factory=list)
    # The ids of the messages found in it, in the order of the conversation.
    hits: Sequence[int] = ()
    words: Sequence[str] = ()
    opened: bool = False
    has_earlier: bool = False
    has_later: bool = False
    # The first line of each part, and how many lines there are.
    starts: list[int] = field(default_factory=list)
    height: int = 0

    def draw(self, message: MessageRow, opened: bool | None = None) -> Part:
        wide = self.opened if opened is None else opened
        found = self.words if message["id"] in self.hits else ()
        return Part(message, drawn(message, self.columns, opened=wide, found=found), wide)

    def settle(self) -> None:
        self.starts, self.height = [], 0
        for part in self.parts:
            self.starts.append(self.height)
            self.height += len(part.lines)

    def part_at(self, line: int) -> int:
        return max(0, bisect_right(self.starts, line) - 1)

    def line(self, number: int) -> Line:
        if not 0 <= number < self.height:
            return []
        place = self.part_at(number)
        return self.parts[place].lines[number - self.starts[place]]

    def place_of(self, message_id: int) -> int | None:
        return next((place for place, part in enumerate(self.parts) if part.message["id"] == message_id), None)

    def toggle(self, place: int) -> None:
        self.parts[place] = self.draw(self.parts[place].message, not self.parts[place].opened)
        self.settle()

    def toggle_all(self) -> None:
        self.opened = not self.opened
        self.redraw(self.columns, opened=self.opened)

    def redraw(self, columns: int, opened: bool | None = None) -> None:
        self.columns = columns
        self.parts = [self.draw(part.message, part.opened if opened is None else opened) for part in self.parts]
        self.settle()


def following_hit(hits: Sequence[int], current: int | None, step: int) -> int | None:
    """The hit to jump to: from none the first or last, past the end around to the other."""
    if not hits:
        return None
    if current not in hits:
        return hits[0] if step > 0 else hits[-1]
    return hits[(hits.index(current) + step) % len(hits)]


def read(
    db: SessionDB, session_id: str, columns: int, *, query: str = "", hits: Sequence[int] = (), at: int | None = None
) -> Transcript:
    """The end of a conversation, or the surroundings of its first hit or of the message `at`. Raises NotFound."""
    session = db.get_session(session_id)
    if session is None:
        raise NotFound(f"session {session_id!r} was deleted meanwhile")
    made = Transcript(session, db.get_tags(session_id), columns)
    if query:
        made.hits, made.words = hits_in(db, session_id, query, hits), words(query)
    centre = at if at is not None else made.hits[0] if made.hits else None
    messages = _around(db, session_id, centre)
    made.parts = [made.draw(message) for message in messages]
    made.settle()
    _look_beyond(db, made)
    return made


def extended(db: SessionDB, made: Transcript, *, later: bool) -> list[Part]:
    """The messages after or before what is there."""
    session_id = made.session["id"]
    if later:
        messages = db.get_messages(session_id, after=made.parts[-1].seq, limit=WINDOW)
    else:
        messages = db.get_messages(session_id, before=made.parts[0].seq, limit=WINDOW, newest=True)
    return [made.draw(message) for message in messages]


def hits_in(db: SessionDB, session_id: str, query: str, known: Iterable[int]) -> list[int]:
    """The messages of a session that the query finds, in order; those known already when a guess found them."""
    found = db.search_messages(completed(query), order="oldest", limit=MOST_HITS, where=Filter(ids=(session_id,)))
    return [hit["id"] for hit in found if hit["matched"] == "message"] or sorted(known)


def _around(db: SessionDB, session_id: str, centre: int | None) -> list[MessageRow]:
    if centre is not None:
        try:
            return db.get_messages_around(session_id, centre, window=WINDOW // 2)
        except NotFound:
            # Rewound or deleted since it was found: the end is always there.
            return db.get_messages(session_id, limit=WINDOW, newest=True)
    return db.get_messages(session_id, limit=WINDOW, newest=True)


def _look_beyond(db: SessionDB, made: Transcript) -> None:
    if made.parts:
        session_id = made.session["id"]
        made.has_earlier = bool(db.get_messages(session_id, before=made.parts[0].seq, limit=1, newest=True))
        made.has_later = bool(db.get_messages(session_id, after=made.parts[-1].seq, limit=1))
