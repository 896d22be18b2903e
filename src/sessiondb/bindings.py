"""Which session a conversation has now: the rows of `gateway_bindings`, and the one way they change.

A binding changes only by a swap: whoever changes it says what it was, and a second writer finds that it is not so any
more. What belongs to the change (a session ended, another begun, words stored) happens in the same transaction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import NotSupported
from .models import Draft
from .values import dataclass


@dataclass(frozen=True, slots=True)
class Binding:
    """A conversation, and the session it has now; `reset_state` is JSON and differs after every change."""

    session_key: str
    platform: str
    chat_type: str
    chat_id: str | None
    thread_id: str | None
    user_id: str | None
    active_session_id: str | None
    reset_state: str
    created_at: float
    updated_at: float
    metadata: str | None = None


BINDING_COLUMNS: tuple[str, ...] = Binding.__match_args__


@dataclass(frozen=True, slots=True)
class Handover:
    """What happens with the change of a binding, in this order."""

    # Last words in a session: its id, and what is appended to it.
    left: tuple[str, Sequence[Draft]] | None = None
    # A session that ends: its id, reason and time. One that has ended stays as it is.
    end: tuple[str, str, float] | None = None
    # A session that goes on in this conversation: its end is taken back, and it gets the key of the binding.
    reopen: str | None = None
    # The columns of a session that begins.
    create: Mapping[str, Any] | None = None
    # What is appended to the session of the binding.
    messages: Sequence[Draft] = ()


NOTHING = Handover()


class Bindable(ABC):
    """The part of a provider that a gateway needs; a provider that has it declares the feature `bindings`."""

    name: str

    def get_binding(self, session_key: str) -> Binding | None:
        raise self._unbound()

    def list_bindings(self, *, after: str = "", limit: int = 500) -> list[Binding]:
        """Bindings with keys above `after`, in order of their key."""
        raise self._unbound()

    def swap_binding(self, old: Binding | None, new: Binding, handover: Handover = NOTHING) -> int | None:
        """Put `new` in the place of `old`, with all of `handover`, or do nothing when the store has another.

        Returns the last position of the binding's session afterwards (0 without one), or None when nothing was done.
        Raises NotFound when a session of the handover is gone, AlreadyExists when the new one's id is in use.
        """
        raise self._unbound()

    def drop_binding(self, binding: Binding) -> bool:
        """Remove a binding; False when it is another by now."""
        raise self._unbound()

    @abstractmethod
    def get_meta(self, key: str) -> str | None: ...

    def _unbound(self) -> NotSupported:
        # A closed store says that first.
        self.get_meta("")
        return NotSupported(f"{self.name} keeps no bindings, so no gateway can run on it; use SQLite or a server")


def same(stored: Binding | None, expected: Binding | None) -> bool:
    """Whether a stored binding is the one that somebody read before."""
    if stored is None or expected is None:
        return stored is expected
    return (stored.active_session_id, stored.reset_state) == (expected.active_session_id, expected.reset_state)
