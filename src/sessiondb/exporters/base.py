"""What an exporter is: a module with

    NAME = "markdown"                                 as `--format` names it
    SUFFIXES = (".md",)                               the file names that mean it
    def write(conversations, out) -> None             writes text as it reads; never holds more than a message or so

and, where what it writes brings everything back, `RESTORES = True`: then credentials are left in unless asked.
Conversations come one at a time, their messages when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TextIO, cast

from .. import ledger, registry
from ..db import SessionDB
from ..media import MediaStore
from ..models import Filter, MediaRefRow, MessageRow, Page, SessionRow
from ..rows import message_row, text_of

_PAGE = 200


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session, with a way to all its messages."""

    session: SessionRow
    tags: Sequence[str]
    # Every stored message, hidden ones too, in order.
    stored: Callable[[], Iterator[MessageRow]]
    media: Callable[[], list[MediaRefRow]]
    media_bytes: Callable[[str], bytes | None]
    # Told what a format cannot hold; the one who exports shows it.
    note: Callable[[str], None] = lambda what: None

    def messages(self) -> Iterator[MessageRow]:
        """What belongs to the conversation as it stands: nothing hidden, no records of other programs."""
        return (row for row in self.stored() if row["active"] and row["role"] not in ("meta", "session_meta"))


class Exporter(Protocol):
    NAME: str
    SUFFIXES: tuple[str, ...]
    write: Callable[[Iterable[Conversation], TextIO], None]


def exporter(name: str) -> Exporter:
    """Raises Invalid for an unknown name."""
    found: Exporter = registry.load("exporters", name)
    return found


def names() -> list[str]:
    return registry.names("exporters")


def for_file(file: str) -> str:
    """The format that a file's name means; our own when it means none."""
    ours = list(registry.TABLES["exporters"])
    for name in [*ours, *(name for name in names() if name not in ours)]:
        if file.lower().endswith(exporter(name).SUFFIXES):
            return name
    return "jsonl"


def redacts(chosen: Exporter) -> bool:
    """Whether credentials are left out unless somebody says otherwise: a copy for others has none, a backup has all."""
    return not getattr(chosen, "RESTORES", False)


def conversations(
    db: SessionDB,
    where: Filter,
    note: Callable[[str], None] = lambda what: None,
    *,
    redact: bool = False,
    summed: bool = False,
) -> Iterator[Conversation]:
    """The selected sessions, oldest first; `note` is told what had to be left out.

    With `redact` without their credentials, see `redacted`.
    """
    store = MediaStore(db.provider.media_directory) if db.provider.media_directory else None
    for session_id in _ids(db, where):
        session = db.provider.get_session(session_id)
        # A session deleted meanwhile is no longer part of the store.
        if session is not None:
            found = _conversation(db, session, store, note)
            yield redacted(found, summed=summed) if redact else found


def _conversation(
    db: SessionDB, session: SessionRow, store: MediaStore | None, note: Callable[[str], None]
) -> Conversation:
    session_id = session["id"]
    return Conversation(
        session,
        db.provider.change_tags(session_id, (), ()),
        lambda: (message_row(row) for row in db.provider.stored_messages(session_id)),
        lambda: db.provider.get_media_refs(session_id),
        lambda digest: None if store is None else store.find(digest),
        note,
    )


def redacted(conversation: Conversation, *, summed: bool) -> Conversation:
    """The same without its credentials; with `summed` terms and ledger are those of what is left."""
    from .. import clean_rows

    def stored() -> Iterator[MessageRow]:
        for row in conversation.stored():
            clean = clean_rows.message(row)
            yield _resumed(clean) if summed and clean != row else cast(MessageRow, clean)

    def media() -> list[MediaRefRow]:
        return [cast(MediaRefRow, clean_rows.media(row)) for row in conversation.media()]

    session = cast(SessionRow, clean_rows.read_session(conversation.session))
    if summed:
        session["ledger"] = ledger.total(row["term"] or 0 for row in stored())
    return replace(conversation, session=session, stored=stored, media=media)


def _resumed(row: dict[str, Any]) -> MessageRow:
    """The row with the term of what it says now."""
    from ..drafts import restored

    if row["seq"] is not None:
        row["term"] = ledger.term(restored(row, max_bytes=1 << 62).digest, row["seq"])
    return cast(MessageRow, row)


def _ids(db: SessionDB, where: Filter) -> list[str]:
    ids: list[str] = []
    while page := db.provider.list_sessions(where, Page(_PAGE, len(ids)), "started"):
        ids.extend(row["id"] for row in page)
    return ids[::-1]


def heading(session: SessionRow) -> str:
    return session["title"] or session["id"]


def words(message: MessageRow) -> str:
    """The text of a message; pictures and files are named, not shown."""
    content = message["content"]
    if isinstance(content, list):
        return "\n".join(filter(None, (_part(part) for part in content)))
    return text_of(content)


def _part(part: Any) -> str:
    text = text_of(part)
    kind = part.get("type") if isinstance(part, dict) else None
    return text or (f"[{kind}]" if isinstance(kind, str) else "")


def calls(message: MessageRow) -> list[dict[str, Any]]:
    """The tool calls of a message: id, name, arguments as text or JSON value."""
    from ..drafts import calls_of

    return calls_of(message["tool_calls"])
