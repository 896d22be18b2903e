"""What leaves one store and enters another: sessions in parts, exactly as stored, and the base forms of moving them.

A part holds rows with their positions, terms and flags. Whoever loads it must be at the position it goes on from, so a
part that was loaded already is refused, and a move that was killed goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import ledger, titles
from .drafts import calls_of, to_json
from .errors import AlreadyExists, Conflict
from .media import MediaStore
from .models import MESSAGE_COLUMNS, SESSION_COLUMNS, Draft, Filter, Page
from .values import NamedTuple, dataclass, field, replace

if TYPE_CHECKING:
    from .models import SessionRow
    from .provider import SessionDBProvider

Row = dict[str, Any]
PART_ROWS = 2000
SESSIONS_TOGETHER = 500
# Rows beside the conversations that move with them, and the column that tells one from another.
SIDE_TABLES = {"meta": "name", "import_files": "path", "gateway_bindings": "session_key"}
_BESIDE_ROW = frozenset({"id", "session_id", "seq", "term", "active"})


class Entry(NamedTuple):
    """What tells one session from another without reading it."""

    id: str
    last_seq: int
    ledger: int
    message_count: int
    last_message_id: int
    started_at: float
    parent_session_id: str | None
    origin: str | None
    native_id: str | None
    host: str | None
    title: str | None
    ended_at: float | None

    @property
    def activity(self) -> tuple[Any, ...]:
        """Whoever was active later comes later; a start that is no number does not stop the others."""
        started = self.started_at if isinstance(self.started_at, int | float) else 0.0
        return self.last_message_id, started, self.id


@dataclass(slots=True)
class Part:
    """Some rows of a session, as stored; `calls` and `media` name their message by `seq`."""

    session: Row
    rows: list[Row]
    calls: list[Row] = field(default_factory=list)
    media: list[Row] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    # The position the store must be at; 0 with `new` creates the session.
    after: int = 0
    new: bool = True
    complete: bool = True

    @property
    def id(self) -> str:
        return str(self.session["id"])

    @property
    def last_seq(self) -> int:
        """The position a store is at that has loaded this part."""
        last: int = self.rows[-1]["seq"] if self.rows else self.after
        return max(last, self.session["last_seq"] or 0) if self.complete else last

    def without(self, bad: Sequence[Row]) -> Part:
        """The rest of it, and what hangs on the rest."""
        gone = {row["seq"] for row in bad}
        kept = [row for row in self.rows if row["seq"] not in gone]
        return replace(self, rows=kept, calls=_of(kept, self.calls), media=_of(kept, self.media))

    def halves(self) -> tuple[Part, Part]:
        middle = len(self.rows) // 2
        first, second = self.rows[:middle], self.rows[middle:]
        return (
            replace(self, rows=first, calls=_of(first, self.calls), media=_of(first, self.media), complete=False),
            replace(
                self, rows=second, calls=_of(second, self.calls), media=_of(second, self.media), new=False,
                after=first[-1]["seq"],
            ),
        )  # fmt: skip


@dataclass(slots=True)
class Buried:
    """A session in the trash with all it owns, as stored."""

    session: Row
    rows: list[Row]
    calls: list[Row]
    media: list[Row]


def _of(rows: Sequence[Row], beside: Sequence[Row]) -> list[Row]:
    positions = {row["seq"] for row in rows}
    return [row for row in beside if row["seq"] in positions]


def grouped(names: Iterable[str], weight: Callable[[str], int], most: int) -> Iterator[list[str]]:
    """Names in order, so many at a time that together they weigh at most so much; a heavier one stands alone."""
    some: list[str] = []
    size = 0
    for name in names:
        heavy = weight(name)
        if some and (size + heavy > most or len(some) == SESSIONS_TOGETHER):
            yield some
            some, size = [], 0
        some.append(name)
        size += heavy
    if some:
        yield some


def adopted(session: Row, unplaced: Sequence[Row], last: int) -> None:
    """Give rows of older code the positions that the store would give them, and let the session know."""
    last = max(last, session["last_seq"] or 0)
    total = session["ledger"] or 0
    for row in unplaced:
        last += 1
        row["seq"], row["term"] = last, ledger.term(ledger.digest(row), last)
        total = (total + row["term"]) & ledger.MASK
    if unplaced:
        newest = max(row["timestamp"] for row in unplaced)
        session.update(last_seq=last, ledger=total, last_active=max(session["last_active"] or newest, newest))


def beside(found: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> list[Row]:
    """Tool calls or media of these rows, naming them by position instead of by id."""
    positions = {row["id"]: row["seq"] for row in rows}
    return [{**row, "seq": positions[row["message_id"]]} for row in found if row["message_id"] in positions]


class Movable:
    """How a provider hands out sessions and takes them in; databases have shorter ways."""

    def catalogue(self: SessionDBProvider) -> Iterator[Entry]:  # type: ignore[misc]
        """All sessions, each once, in no order."""
        offset = 0
        while page := self.list_sessions(Filter(), Page(500, offset), "started"):
            offset += len(page)
            for row in page:
                yield Entry(*(row[name] for name in Entry._fields))  # type: ignore[literal-required]

    def ledger_at(self: SessionDBProvider, session_id: str, seq: int) -> int:  # type: ignore[misc]
        """The sum of the terms up to a position: whoever has the same there has the same beginning."""
        rows = self.stored_messages(session_id)
        return ledger.total(row["term"] or 0 for row in rows if row["seq"] is not None and row["seq"] <= seq)

    def stored_together(  # type: ignore[misc]
        self: SessionDBProvider, session_ids: Sequence[str]
    ) -> dict[str, list[Row]]:
        """All rows of a few short sessions, as `stored_messages` gives them, in any order."""
        return {session_id: list(self.stored_messages(session_id)) for session_id in session_ids}

    def read_part(  # type: ignore[misc]
        self: SessionDBProvider, session_id: str, after: int = 0, limit: int = PART_ROWS
    ) -> Part | None:
        """The next rows after a position, on one snapshot where there are snapshots; None for an unknown id."""
        found = self.get_session(session_id)
        if found is None:
            return None
        session: Row = {name: found.get(name) for name in SESSION_COLUMNS}
        session["metadata"] = to_json(session["metadata"], "metadata")
        stored = [row for row in self.stored_messages(session_id) if row["seq"] is None or row["seq"] > after]
        rows, complete = stored[:limit], len(stored) <= limit
        adopted(session, [row for row in rows if row["seq"] is None], max([after, *(r["seq"] or 0 for r in rows)]))
        media = [{**row, "metadata": to_json(row["metadata"], "metadata")} for row in self.get_media_refs(session_id)]
        return Part(
            session,
            rows,
            beside(self.get_tool_calls(session_id), rows),
            beside(media, rows),
            self.change_tags(session_id, (), ()) if after == 0 else [],
            after=after,
            new=after == 0,
            complete=complete,
        )

    def expect_load(self) -> None:
        """Told before an empty store is filled: what is quicker done at once may wait for `update_index`."""

    def load(self: SessionDBProvider, parts: Sequence[Part]) -> dict[str, str]:  # type: ignore[misc]
        """Store parts of different sessions, all or nothing: rows, positions, terms, flags and counters as they are.

        Parents are linked later, when all are there. A taken title gets the next number of its lineage; the answer
        tells which. Raises Conflict when a session is not at the position its part goes on from.
        """
        for part in parts:
            _check_place(self.get_session(part.id), part)
        renamed: dict[str, str] = {}
        for part in parts:
            drafts = [_draft(row, part) for row in part.rows]
            if part.new:
                values = part.session | {"parent_session_id": None, "title": self._free_title(part, renamed)}
                values["last_seq"] = part.session["last_seq"] if part.complete else 0
                self.create_session(values, drafts, tags=part.tags)
            elif drafts:
                self.append(part.id, drafts, expected_seq=part.after)
        return renamed

    def _free_title(self: SessionDBProvider, part: Part, renamed: dict[str, str]) -> str | None:  # type: ignore[misc]
        title: str | None = part.session["title"]
        if title is None or not any(row["title"] == title for row in self.find_titles(title)):
            return title
        base, _ = titles.split(title)
        known = [row["title"] or "" for row in self.find_titles(titles.lineage_prefix(base))]
        renamed[part.id] = titles.next_in_lineage(base, known)
        return renamed[part.id]

    def side_rows(self, table: str) -> list[Row]:
        """The rows of one of SIDE_TABLES; none where there is no such table."""
        return []

    def load_side_rows(self, table: str, rows: Sequence[Row]) -> int:
        """Add rows that are not there yet; returns how many were added."""
        return 0

    def buried(self) -> Iterator[Buried]:
        """The sessions in the trash, the first deleted first."""
        return iter(())

    def bury(self, entry: Buried) -> bool:
        """Put a session into the trash; False when it is there already, or this provider's trash takes none."""
        return False

    def find_media(self: SessionDBProvider, digest: str) -> bytes | None:  # type: ignore[misc]
        """The bytes that a message refers to by their hash."""
        return MediaStore(self.media_directory).find(digest) if self.media_directory else None

    def put_media(self: SessionDBProvider, digest: str, data: bytes) -> bool:  # type: ignore[misc]
        """Keep bytes under their hash; False where there is no place for them."""
        if self.media_directory is not None:
            MediaStore(self.media_directory).put(digest, data)
        return self.media_directory is not None

    def homeless(self) -> Iterator[Row]:
        """Messages whose session does not exist, as stored."""
        return iter(())

    def unreadable_sessions(self) -> Iterator[Row]:
        """Sessions that are in no catalogue because their row cannot be read, with what of it can."""
        return iter(())

    def left_out(self) -> list[str]:
        """What the source keeps beside conversations that has no place in another store, told in sentences."""
        return []


def taken(session_id: str) -> AlreadyExists:
    return AlreadyExists(f"session {session_id!r} was created meanwhile; run it again")


def moved_on(session_id: str, at: int | None, after: int) -> Conflict:
    where = "gone" if at is None else f"at position {at}"
    return Conflict(f"session {session_id!r} is {where}, not at {after}: somebody wrote meanwhile; run it again")


def _check_place(found: SessionRow | None, part: Part) -> None:
    if part.new and found is not None:
        raise taken(part.id)
    if not part.new and (found is None or found["last_seq"] != part.after):
        raise moved_on(part.id, None if found is None else found["last_seq"], part.after)


def _draft(row: Row, part: Part) -> Draft:
    values = {name: row[name] for name in MESSAGE_COLUMNS if name not in _BESIDE_ROW}
    calls = calls_of(json.loads(row["tool_calls"])) if row["tool_calls"] else []
    media = [each for each in part.media if each["seq"] == row["seq"]]
    kept = ("kind", "path", "mime_type", "sha256", "size", "metadata")
    found = [{name: each[name] for name in kept} for each in media]
    return Draft(values, ledger.digest(row), calls, found, seq=row["seq"], active=row["active"])
