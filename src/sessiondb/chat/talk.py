"""The seams of the agent loop: the conversation it writes into, who listens, and what is left to say at the end.

A gateway's `Turn` is a `Talk`; so is the terminal's own. The loop stores each step as it happens, and leaves the last
words to its caller, who stores them together with the end of the turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..gateway.scope import Scope


class Talk(Protocol):
    """A conversation in the store, while one answer is made."""

    session_id: str

    @property
    def scope(self) -> Scope:
        """What the person who asks may see, and so may the tools that work for them."""

    def history(self) -> list[dict[str, Any]]:
        """The conversation so far, in the form that model APIs take."""

    def append(self, messages: Iterable[Mapping[str, Any]]) -> list[int]:
        """Store what was said. Raises `Interrupted` when the conversation went on without this turn."""

    def renew(self) -> None:
        """Say that the turn is still at work. Raises `Interrupted` when it is over."""

    def rotate(self, **fields: Any) -> str:
        """Go on in a continuation of the session, which was compressed; returns its id."""


class Listener(Protocol):
    """Who shows an answer while it is made. Nothing here may change what is stored."""

    def text(self, piece: str) -> None: ...

    def tool_begins(self, name: str, arguments: str) -> None: ...

    def tool_ends(self, name: str, result: str) -> None: ...

    def notice(self, sentence: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, its `last_words` not stored yet; `finish`: stop, length, interrupted, error or max_turns."""

    text: str
    finish: str
    last_words: tuple[Mapping[str, Any], ...] = ()
    problem: str | None = None
