"""Where a slash command acts: the terminal's conversation or one of a chat. One registry of commands serves both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..db import SessionDB
from ..gateway.scope import Scope


class Desk(Protocol):
    """Who asks, what they may see, and the conversation they are in."""

    db: SessionDB
    scope: Scope

    @property
    def session_id(self) -> str | None:
        """The session the person is in; None before the first message."""

    def begin(self, reason: str) -> str:
        """Leave the session and start a new one; returns its id."""

    def switch(self, session_id: str) -> None:
        """Go on in another session that the person may see."""

    def title_later(self, title: str) -> None:
        """Keep a title for a session that does not exist yet."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command answers; `prompt` is something to say to the model next, `file` something to hand over."""

    text: str
    prompt: str | None = None
    file: Path | None = None
    leave: bool = False
