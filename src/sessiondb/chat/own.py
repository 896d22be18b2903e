"""The conversation of one person at a terminal: a desk for commands, and the talk that the agent loop writes into."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..db import SessionDB
from ..errors import TitleTaken
from ..gateway.router import RESET, SWITCHED
from ..gateway.scope import Scope
from ..ids import new_session_id
from ..models import Filter

LEFT = "user_exit"
_NOT_FOR_MODELS = ("meta", "session_meta")


class OwnTalk:
    def __init__(self, db: SessionDB, session_id: str, scope: Scope) -> None:
        self.db, self.session_id, self._scope = db, session_id, scope

    @property
    def scope(self) -> Scope:
        return self._scope

    def history(self) -> list[dict[str, Any]]:
        found = self.db.get_messages_as_conversation(self.session_id, repair=True)
        return [turn for turn in found if turn["role"] not in _NOT_FOR_MODELS]

    def append(self, messages: Iterable[Mapping[str, Any]]) -> list[int]:
        return self.db.append_messages(self.session_id, messages)

    def renew(self) -> None:
        """Nobody takes a terminal's turn away."""

    def rotate(self, **fields: Any) -> str:
        self.session_id = self.db.rotate_session(self.session_id, **fields)
        return self.session_id


class OwnDesk:
    """A session begins with its first message, so that looking around leaves nothing behind."""

    def __init__(self, db: SessionDB, session_id: str | None = None, *, source: str = "cli", **fields: Any) -> None:
        """`fields` are those of new sessions, such as the model."""
        self.db, self.scope = db, Scope(db, Filter())
        self._source, self._fields = source, fields
        self._current = session_id
        self._next: dict[str, Any] = {}
        self._title: str | None = None

    @property
    def session_id(self) -> str | None:
        return self._current

    def begin(self, reason: str) -> str:
        old, self._current = self._current, None
        if old is not None:
            self.db.end_session(old, RESET)
            self._next |= {"parent_session_id": old, "relation": "reset"}
        self._next["session_id"] = new_session_id(self.db._clock())
        return str(self._next["session_id"])

    def switch(self, session_id: str) -> None:
        old, self._current = self._current, session_id
        if old is not None and old != session_id:
            self.db.end_session(old, SWITCHED)
        self.db.reopen_session(session_id)
        self._next, self._title = {}, None

    def title_later(self, title: str) -> None:
        self._title = title

    def say(self, text: str, notice: Callable[[str], None]) -> OwnTalk:
        """Store what the person said, and the talk that answers it."""
        if self._current is None:
            self._current = self._created(notice)
        else:
            self.db.reopen_session(self._current)
        self.db.append_message(self._current, "user", text)
        return OwnTalk(self.db, self._current, self.scope)

    def follow(self, talk: OwnTalk) -> None:
        """A talk may have gone on in a continuation."""
        self._current = talk.session_id

    def leave(self) -> None:
        if self._current is not None:
            self.db.end_session(self._current, LEFT)

    def _created(self, notice: Callable[[str], None]) -> str:
        given = {"cwd": os.getcwd(), **self._fields, **self._next}
        session_id = given.pop("session_id", None) or new_session_id(self.db._clock())
        self.db.create_session(session_id, self._source, **given)
        title, self._title, self._next = self._title, None, {}
        try:
            if title is not None:
                self.db.set_session_title(session_id, title)
        except TitleTaken as exc:
            notice(f"The session has no title: {exc}")
        return session_id
