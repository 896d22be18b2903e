"""What a binding remembers beside its session, as JSON in the store; pure.

Every change makes a new revision, so no two states of a binding have the same text, and a swap knows them apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

# How many sessions back a message delivered again is still known.
REMEMBERED = 16


@dataclass(frozen=True, slots=True)
class Lease:
    """The turn that runs: who runs it, for whom, until when it is believed to be alive."""

    holder: str
    # Grows with every turn of the conversation; a turn with an older one is over, whatever it believes.
    token: int
    until: float
    user_id: str | None = None
    message_key: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """A fresh start the person has not heard of yet."""

    reason: str
    previous: str | None
    had_activity: bool


@dataclass(frozen=True, slots=True)
class Saving:
    """How the turn before a reset, in which memories are saved, went for one session."""

    session_id: str
    # Decided once: what is said while saving does not make the session young again.
    reason: str
    tries: int = 0
    done: bool = False
    # Who saves now, and until when that is believed.
    holder: str = ""
    until: float = 0.0


@dataclass(frozen=True, slots=True)
class State:
    rev: int = 0
    token: int = 0
    suspended: bool = False
    resume_pending: bool = False
    # The message whose turn was interrupted by the end of its process.
    pending: str | None = None
    lease: Lease | None = None
    notice: Notice | None = None
    saving: Saving | None = None
    # The sessions before this one, the last first: a message that is delivered again may be there.
    recent: tuple[str, ...] = ()
    # Messages that wait for the end of the turn.
    waiting: tuple[dict[str, Any], ...] = ()

    def text(self) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if value}, ensure_ascii=True)

    def left(self, session_id: str | None) -> State:
        """With one more session behind it."""
        if session_id is None:
            return self
        return replace(self, recent=tuple(dict.fromkeys((session_id, *self.recent)))[:REMEMBERED])

    def next(self, **changes: Any) -> State:
        return replace(self, rev=self.rev + 1, **changes)


def read(text: str | None) -> State:
    """The state of a text; what is damaged or of a newer version counts as not there."""
    try:
        values = json.loads(text or "{}")
    except ValueError:
        values = {}
    if not isinstance(values, dict):
        values = {}
    return State(
        rev=_number(values.get("rev")),
        token=_number(values.get("token")),
        suspended=values.get("suspended") is True,
        resume_pending=values.get("resume_pending") is True,
        lease=_part(Lease, values.get("lease")),
        notice=_part(Notice, values.get("notice")),
        saving=_part(Saving, values.get("saving")),
        pending=_text(values.get("pending")),
        recent=tuple(each for each in values.get("recent") or () if isinstance(each, str)),
        waiting=tuple(each for each in values.get("waiting") or () if isinstance(each, dict)),
    )


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _part(kind: type[Any], values: Any) -> Any:
    if not isinstance(values, Mapping):
        return None
    try:
        return kind(**{name: value for name, value in values.items() if name in kind.__slots__})
    except TypeError:
        return None
