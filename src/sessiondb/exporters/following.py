"""Sessions as they are, then every message as it comes; for the formats that can go on: those with `more`.

def more(conversation, after, out) -> None        writes what came after a position; ours knows some of it from before
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TextIO

from .. import ledger
from ..db import SessionDB
from ..errors import Invalid
from ..models import Filter, MessageRow, Page, SessionRow
from . import base
from .base import Conversation

EVERY_SECONDS = 0.5
# How much of a conversation is shown again to what needs to know what came before.
CONTEXT = 100
_PAGE = 50


def check(exporter: base.Exporter) -> None:
    """Raises Invalid for a format that cannot go on once it is written."""
    if not hasattr(exporter, "more"):
        raise Invalid(f"{exporter.NAME} cannot be followed; use --format jsonl or otlp")


class Following:
    """What was written of each session, and the way to the rest."""

    def __init__(self, db: SessionDB, where: Filter, exporter: Any, out: TextIO, *, redact: bool) -> None:
        check(exporter)
        self._db, self._where, self._exporter, self._out = db, where, exporter, out
        self._redact = redact
        self._written: dict[str, int] = {}
        self._ledgers: dict[str, int] = {}
        self._newest = 0

    @property
    def sessions(self) -> int:
        return len(self._written)

    def first(self, tick: Callable[[], None] = lambda: None) -> None:
        """Write everything that is there."""
        newest = self._activity()
        for conversation in base.conversations(self._db, self._where):
            self._begin(conversation)
            tick()
        self._newest = newest
        self._out.flush()

    def step(self) -> int:
        """Write what came since; how many messages."""
        newest, came = self._newest, 0
        for session in list(self._changed()):
            newest = max(newest, session["last_message_id"] or 0)
            if session["id"] in self._written:
                came += self._go_on(session)
            else:
                (conversation,) = base.conversations(self._db, Filter(ids=(session["id"],)))
                self._begin(conversation)
                came += session["message_count"]
        self._newest = newest
        if came:
            self._out.flush()
        return came

    def forever(self) -> None:
        while True:
            time.sleep(EVERY_SECONDS)
            self.step()

    def _activity(self) -> int:
        rows = self._db.provider.list_sessions(self._where, Page(1), "activity")
        return (rows[0]["last_message_id"] or 0) if rows else 0

    def _changed(self) -> Iterator[SessionRow]:
        """Sessions with messages that are newer than the newest that was seen."""
        offset = 0
        while page := self._db.provider.list_sessions(self._where, Page(_PAGE, offset), "activity"):
            for row in page:
                if (row["last_message_id"] or 0) <= self._newest:
                    return
                yield row
            offset += len(page)

    def _begin(self, conversation: Conversation) -> None:
        session = conversation.session
        last = session["last_seq"]
        # What comes while it is written belongs to the next step, or the ledger would not fit.
        bounded = replace(
            conversation, stored=lambda: (row for row in conversation.stored() if (row["seq"] or 0) <= last)
        )
        ready = self._ready(bounded)
        ready = replace(ready, session={**ready.session, "parts": True, "follows": True})  # type: ignore[typeddict-unknown-key]
        self._exporter.write([ready], self._out)
        self._written[session["id"]] = last
        self._ledgers[session["id"]] = ready.session["ledger"]

    def _go_on(self, session: SessionRow) -> int:
        name = session["id"]
        after = self._written[name]
        found = self._db.provider.get_messages(name, after=max(0, after - CONTEXT), include_inactive=True)
        fresh = [row for row in found if (row["seq"] or 0) > after]
        current = self._db.provider.get_session(name)
        if not fresh or current is None:
            return 0
        self._written[name] = max(row["seq"] or 0 for row in fresh)
        ready = self._ready(self._conversation(current, found))
        terms = [row["term"] or 0 for row in ready.stored() if (row["seq"] or 0) > after]
        self._ledgers[name] = ledger.total((self._ledgers[name], *terms))
        known = {"ledger": self._ledgers[name], "last_seq": self._written[name]}
        self._exporter.more(replace(ready, session={**ready.session, **known}), after, self._out)  # type: ignore[typeddict-item]
        return len(fresh)

    def _conversation(self, session: SessionRow, rows: list[MessageRow]) -> Conversation:
        (whole,) = base.conversations(self._db, Filter(ids=(session["id"],)))
        return replace(whole, session=session, stored=lambda: iter(rows))

    def _ready(self, conversation: Conversation) -> Conversation:
        if not self._redact:
            return conversation
        return base.redacted(conversation, summed=not base.redacts(self._exporter))
