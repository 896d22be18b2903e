"""What the router answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .keys import Key
from .state import Notice

if TYPE_CHECKING:
    from .turn import Turn


@dataclass(frozen=True, slots=True)
class Route:
    """The session of a conversation; `notice` tells of a fresh start the person has not heard of."""

    key: Key
    session_id: str
    fresh: bool = False
    notice: Notice | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of a message: "started" a turn, "queued" behind one, or a "duplicate" that was stored before."""

    status: str
    session_id: str
    turn: Turn | None = None
    notice: Notice | None = None
    # Whether the notice is one for the person, too, not only for the agent.
    tell: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """The session to go on in, and what must happen to enter it."""

    session_id: str
    create: Mapping[str, Any] | None = None
    end: tuple[str, str, float] | None = None
    notice: Notice | None = None
