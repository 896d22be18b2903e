"""What one source yields, on its way into the store: sessions made or found, messages merged in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

from .. import clean_rows
from ..db import SessionDB
from ..drafts import check_session, to_json
from ..errors import Conflict, Invalid, TitleTaken
from ..models import MAX_TITLE_LENGTH, RELATIONS, ROLES, SessionRow
from ..redact import redact
from ..titles import clean, lineage_prefix, next_in_lineage, split
from .base import Message, Record, Retracted, Session, Skipped, Usage
from .keys import Keys, native_key
from .report import Report, Tally
from .twins import Twins

BATCH_MESSAGES = 500
BATCH_CHARACTERS = 4 * 1024 * 1024
# How many sessions of one source are remembered between two reads; most sources hold one.
REMEMBERED = 50
TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
COSTS = ("estimated_cost_usd", "actual_cost_usd")
COST_FACTS = ("cost_status", "cost_source", "pricing_version")
_COPIED = (
    "started_at", "ended_at", "end_reason", "model", "system_prompt", "cwd", "git_branch", "user_id", "session_key",
    "chat_id", "chat_type", "thread_id", "display_name", "host", "archived_at", "pinned_at",
    "billing_provider", "billing_base_url", "billing_mode",
)  # fmt: skip
# Set here by people, and not to be taken back by a file that is read again.
_OURS = frozenset({"archived_at", "pinned_at", "display_name", "started_at"})
_MESSAGE_FIELDS = tuple(
    field.name for field in fields_of(Message) if field.name not in ("native_id", "session", "media", "active")
)


class Opened:
    """A session that the source speaks of: what is known about it, and its messages that wait to be stored."""

    def __init__(self, native_id: str, state: Mapping[str, Any] | None) -> None:
        known = state or {}
        self.session = Session(native_id)
        self.keys = Keys(known.get("keys"))
        self.title: str | None = known.get("title")
        self.was_read = state is not None
        self.row: SessionRow | None = None
        self.is_gone = False
        self.has_news = True
        self.touched = False
        self.usage: Usage | None = None
        self.messages: list[dict[str, Any]] = []
        self.hidden: list[str] = []
        self.twins: Twins | None = None

    def learn(self, session: Session) -> None:
        """Take over what is not None."""
        news = {name: value for name in Session.__slots__ if (value := getattr(session, name)) not in (None, ())}
        old = {name: getattr(self.session, name) for name in Session.__slots__}
        if all(old[name] == value for name, value in news.items()):
            return
        if session.metadata and self.session.metadata:
            news["metadata"] = {**self.session.metadata, **session.metadata}
        self.session = Session(**old | news)
        self.has_news = True

    def state(self) -> dict[str, Any]:
        return {"keys": self.keys.state(), "title": self.title}


class Intake:
    """Takes the records of one source; `flush` stores what waits."""

    def __init__(self, db: SessionDB, origin: str, path: Path, report: Report, tally: Tally, mtime: float) -> None:
        self.db = db
        self.origin = origin
        self.path = path
        self.report = report
        self.tally = tally
        self.mtime = mtime
        self.opened: dict[str, Opened] = {}
        self.states: dict[str, Any] = {}
        self.links: list[tuple[str, str, str]] = []
        self.seen: set[str] = set()
        self.waiting = 0
        self.unsaved = 0
        self._characters = 0
        self._current: str | None = None

    def restore(self, states: Mapping[str, Any]) -> None:
        """Go on with the sessions that an earlier read of the source knew."""
        self.states = dict(states)
        self._current = next(reversed(self.states), None)

    def consume(self, records: Iterable[Record]) -> None:
        for record in records:
            self.take(record)
        self.flush()

    def take(self, record: Record) -> None:
        if isinstance(record, Message):
            self._take_message(record)
        elif isinstance(record, Session):
            self._current = record.native_id
            self._open(record.native_id).learn(record)
        elif isinstance(record, Usage):
            if (named := self._named(record.session)) is not None:
                named.usage = record
        elif isinstance(record, Retracted):
            if (named := self._named(record.session)) is not None:
                named.hidden += map(native_key, record.native_ids)
        elif isinstance(record, Skipped):
            self.report.skip(self.tally, record)

    def _open(self, native_id: str) -> Opened:
        found = self.opened.get(native_id)
        if found is None:
            if len(self.opened) >= REMEMBERED:
                self.flush()
                self._forget_oldest()
            found = self.opened[native_id] = Opened(native_id, self.states.pop(native_id, None))
            self.seen.add(native_id)
        return found

    def _forget_oldest(self) -> None:
        for native_id in list(self.opened)[: REMEMBERED // 2]:
            if native_id != self._current:
                self.states[native_id] = self.opened.pop(native_id).state()
        for native_id in list(self.states)[: max(len(self.states) - REMEMBERED, 0)]:
            del self.states[native_id]

    def _named(self, native_id: str | None) -> Opened | None:
        name = native_id or self._current
        if name is None:
            self.report.skip(self.tally, Skipped(self.path, None, "a message before any session"))
            return None
        return self._open(name)

    def _take_message(self, message: Message) -> None:
        opened = self._named(message.session)
        if opened is None:
            return
        values = {name: value for name in _MESSAGE_FIELDS if (value := getattr(message, name)) is not None}
        if message.role not in ROLES:
            values |= {"role": "meta", "metadata": {**(message.metadata or {}), "role": message.role}}
        if message.media:
            values["media_refs"] = list(message.media)
        values["message_key"] = self._key(opened, message)
        values["active"] = 1 if message.active else 0
        opened.messages.append(values)
        self.waiting += 1
        self._characters += len(message.content) if isinstance(message.content, str) else 1000
        if self.waiting >= BATCH_MESSAGES or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def _key(self, opened: Opened, message: Message) -> str:
        key = opened.keys.key(message)
        if not opened.session.has_twins or message.native_id is None:
            return key
        if opened.twins is None:
            row = self.db.provider.find_native(self.origin, opened.session.native_id)
            opened.twins = Twins(() if row is None else self.db.provider.stored_messages(row["id"]))
        return opened.twins.key(key, message)

    def state(self) -> dict[str, Any]:
        """What the next read of the source must know; small."""
        known = self.states | {native_id: each.state() for native_id, each in self.opened.items()}
        if self._current in known:
            known[self._current] = known.pop(self._current)
        return dict(list(known.items())[-REMEMBERED:])

    def flush(self) -> None:
        """Store what waits, session by session."""
        for opened in self.opened.values():
            if opened.messages or opened.hidden or opened.has_news or opened.usage is not None:
                try:
                    self._store(opened)
                except Invalid as exc:
                    self._refuse(opened, exc)
                self.unsaved += len(opened.messages)
                opened.messages, opened.hidden, opened.usage, opened.has_news = [], [], None, False
        self.waiting = self._characters = 0

    def _refuse(self, opened: Opened, error: Invalid) -> None:
        """One message that cannot be stored must not cost the others of its batch."""
        if opened.row is None or len(opened.messages) <= 1:
            self.report.skip(self.tally, Skipped(self.path, None, f"{opened.session.native_id}: {error}"))
            return
        for message in opened.messages:
            try:
                self._count(opened, self.db.merge_messages(opened.row["id"], [self._timed(opened, message)]))
            except Invalid as exc:
                self.report.skip(self.tally, Skipped(self.path, None, f"{opened.session.native_id}: {exc}"))

    def _store(self, opened: Opened) -> None:
        if opened.row is None and not self._find_or_create(opened):
            return
        row = opened.row
        if row is None:
            return
        if opened.has_news:
            self._update(opened, row)
        if opened.messages or opened.hidden:
            timed = [self._timed(opened, message) for message in opened.messages]
            self._count(opened, self.db.merge_messages(row["id"], timed, hidden=opened.hidden))
        if opened.usage is not None and _add_usage(self.db, row, opened.usage):
            self._touch(opened)

    def _count(self, opened: Opened, merged: Any) -> None:
        self.tally.messages += merged.added
        if merged.added and opened.row is not None:
            self.report.brought.add(opened.row["id"])
        if merged.added or merged.changed:
            self._touch(opened)

    def _touch(self, opened: Opened) -> None:
        if not opened.touched:
            opened.touched = True
            self.tally.updated += 1

    def _find_or_create(self, opened: Opened) -> bool:
        """Whether there is a session to store into."""
        native_id = opened.session.native_id
        opened.row = self.db.provider.find_native(self.origin, native_id)
        if opened.row is not None:
            return True
        if opened.is_gone:
            return False
        if opened.was_read:
            opened.is_gone = True
            why = f"session {native_id} was deleted here and is not brought back; `sessiondb undelete` does that"
            self.report.skip(self.tally, Skipped(self.path, None, why))
            return False
        self._create(opened)
        return opened.row is not None

    def _create(self, opened: Opened) -> None:
        values = self._columns(opened)
        session_id = values["id"] = self._free_id(opened.session.native_id)
        values["title"] = self._free_title(opened, session_id)
        if values["title"] is None:
            values.pop("title_source", None)
        first = [self._timed(opened, message, values["started_at"]) for message in opened.messages]
        try:
            created = self.db.import_native(values, first, tags=opened.session.tags)
        except Conflict:
            # Another process imports the same session at this moment.
            created = False
        opened.row = self.db.provider.find_native(self.origin, opened.session.native_id)
        if created:
            self.tally.new += 1
            self.tally.messages += _different(first)
            self.report.brought.add(session_id)
            opened.touched = True
            opened.messages, opened.has_news = [], False
            self._link(opened, session_id)

    def _columns(self, opened: Opened) -> dict[str, Any]:
        session = opened.session
        values = {name: value for name in _COPIED if (value := getattr(session, name)) is not None}
        times = (message["timestamp"] for message in opened.messages if "timestamp" in message)
        values.setdefault("started_at", next(times, self.mtime))
        values |= {"origin": self.origin, "native_id": session.native_id, "source": session.source or self.origin}
        if session.title is not None:
            values["title_source"] = session.title_source or "agent"
        values["metadata"] = to_json(dict(session.metadata), "metadata") if session.metadata else None
        config = session.model_config
        values["model_config"] = to_json(dict(config), "model_config") if isinstance(config, Mapping) else config
        check_session(values)
        return clean_rows.session(values) if self.db.redacts_on_write else values

    def _update(self, opened: Opened, row: SessionRow) -> None:
        columns = self._columns(opened)
        for name in (*_OURS, "origin", "native_id", "source", "title_source"):
            columns.pop(name, None)
        changes = {name: value for name, value in columns.items() if value is not None and _differs(row, name, value)}
        if changes:
            self.db.provider.update_session(row["id"], changes)
            self._touch(opened)
        if opened.session.tags:
            self.db.provider.change_tags(row["id"], list(opened.session.tags), ())
        if self._retitle(opened, row) or changes:
            opened.row = self.db.provider.get_session(row["id"])
        self._link(opened, row["id"])

    def _retitle(self, opened: Opened, row: SessionRow) -> bool:
        """Give the session the title that the source has now, unless somebody renamed it here."""
        wanted = _short_title(self._stored(opened.session.title))
        if wanted is None or wanted == opened.title or (row["title"] is not None and not _is_of(row, opened.title)):
            return False
        title = self._free_title(opened, row["id"])
        try:
            self.db.provider.set_title(row["id"], title, opened.session.title_source or "agent")
        except TitleTaken:
            return False
        self._touch(opened)
        return True

    def _stored(self, title: str | None) -> str | None:
        return redact(title) if self.db.redacts_on_write and isinstance(title, str) else title

    def _free_title(self, opened: Opened, session_id: str) -> str | None:
        title = opened.title = _short_title(self._stored(opened.session.title))
        find = self.db.provider.find_titles
        if title is None or not any(row["title"] == title and row["id"] != session_id for row in find(title)):
            return title
        base, _ = split(title)
        return next_in_lineage(base, [row["title"] or "" for row in find(lineage_prefix(base))])

    def _free_id(self, native_id: str) -> str:
        """The native id, where it can be ours and nobody has it; else one made of it."""
        usable = len(native_id) <= 200 and native_id.isprintable() and native_id.strip() == native_id
        wanted = native_id if usable else hashlib.sha256(native_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return wanted if self.db.provider.get_session(wanted) is None else f"{self.origin}-{wanted}"

    def _link(self, opened: Opened, session_id: str) -> None:
        parent, relation = opened.session.parent_native_id, opened.session.relation
        if parent is not None and parent != opened.session.native_id:
            self.links.append((session_id, parent, relation if relation in RELATIONS else "subagent"))

    def _timed(self, opened: Opened, message: dict[str, Any], started_at: float | None = None) -> dict[str, Any]:
        """A message without a time has that of the session: the clock of the import says nothing about it."""
        if "timestamp" in message:
            return message
        begun = started_at if started_at is not None else opened.row["started_at"] if opened.row else self.mtime
        return {**message, "timestamp": begun}


def _differs(row: SessionRow, name: str, value: Any) -> bool:
    stored = row.get(name)
    if name == "metadata":
        stored = to_json(stored, name)
    return bool(stored != value)


def _short_title(title: str | None) -> str | None:
    if not isinstance(title, str):
        return None
    words = " ".join(title.split())
    try:
        return clean(words if len(words) <= MAX_TITLE_LENGTH else words[: MAX_TITLE_LENGTH - 1].rstrip() + "…")
    except Invalid:
        return None


def _is_of(row: SessionRow, title: str | None) -> bool:
    """Whether the stored title is the one that was imported, perhaps numbered."""
    stored = row["title"]
    return bool(title and stored) and split(str(stored))[0] == split(str(title))[0]


def _different(messages: list[dict[str, Any]]) -> int:
    """How many there are, when what has the same key is the same message."""
    keys = [message.get("message_key") for message in messages]
    return keys.count(None) + len({*keys} - {None})


def _add_usage(db: SessionDB, row: SessionRow, usage: Usage) -> bool:
    """Raise the totals to what the source knows; a shorter copy of it never lowers them."""
    known: Mapping[str, Any] = row
    amounts: dict[str, float | None] = {
        name: value for name in TOKENS if (value := getattr(usage, name)) > (known.get(name) or 0)
    }
    for name in COSTS:
        cost = getattr(usage, name)
        if cost is not None and cost > (known.get(name) or 0):
            amounts[name] = cost
    facts = {name: value for name in COST_FACTS if (value := getattr(usage, name)) not in (None, known.get(name))}
    if not amounts and not facts:
        return False
    db.provider.add_usage(row["id"], amounts, facts, absolute=True)
    row.update(amounts)  # type: ignore[typeddict-item]  # names of columns
    return True
