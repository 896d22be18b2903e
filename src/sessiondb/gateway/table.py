"""The conversations in the store: read one, write its next state if nobody was faster."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from .. import media
from ..bindings import Binding, Handover
from ..db import SessionDB
from ..drafts import checked_media
from ..errors import Busy, Conflict, ConnectionLost, Invalid, NotFound
from ..models import Draft, SessionRow
from . import state as states
from .keys import Key, parse
from .state import State

if TYPE_CHECKING:
    from .transcripts import Transcripts

T = TypeVar("T")
TRIES = 200


@dataclass(frozen=True, slots=True)
class View:
    """A conversation as the store has it now."""

    key: Key
    binding: Binding | None
    state: State
    session: SessionRow | None
    now: float


def key_of(binding: Binding) -> Key:
    """The key of a binding; its text is one to one. Raises Invalid."""
    found = parse(binding.session_key)
    if found is None:
        raise Invalid(f"{binding.session_key!r} is no key of a conversation")
    return found


class Table:
    db: SessionDB
    clock: Callable[[], float]
    transcripts: Transcripts | None

    def bindings(self) -> list[Binding]:
        """All conversations, in order of their key."""
        found: list[Binding] = []
        while page := self.db.provider.list_bindings(after=found[-1].session_key if found else ""):
            found += page
        # Titles of people are there, too.
        return [each for each in found if parse(each.session_key) is not None]

    def view(self, key: Key) -> View:
        binding = self.db.provider.get_binding(key.text)
        state = states.read(binding.reset_state if binding is not None else None)
        session = None
        if binding is not None and binding.active_session_id is not None:
            session = self._tip(binding.active_session_id)
        if session is not None and session["session_key"] not in (None, key.text):
            # Another chat went on with it.
            session = None
        return View(key, binding, state, session, self.clock())

    def _tip(self, session_id: str) -> SessionRow | None:
        session = self.db.provider.get_session(session_id)
        if session is None or session["end_reason"] != "compression":
            return session
        return self.db.provider.get_session(self.db.get_compression_tip(session_id))

    def swap(
        self, view: View, state: State, active: str | None, handover: Handover, user_id: str | None = None
    ) -> int | None:
        """Write the next state of a conversation; the last position of its session, None when somebody was faster."""
        old, key = view.binding, view.key
        known = user_id if old is None else user_id or old.user_id
        if old is not None and old.active_session_id != active:
            state = state.left(old.active_session_id)
        new = Binding(
            session_key=key.text,
            platform=key.platform,
            chat_type=key.chat_type,
            chat_id=key.chat_id or None,
            thread_id=key.thread_id or None,
            user_id=None if key.shared else key.participant or known,
            active_session_id=active,
            reset_state=state.text(),
            created_at=view.now if old is None else old.created_at,
            updated_at=view.now,
            metadata=None if old is None else old.metadata,
        )
        done = self._swapped(old, new, handover)
        if done is not None and self.transcripts is not None:
            self.transcripts.follow(self.db, old, new, handover)
        return done

    def _swapped(self, old: Binding | None, new: Binding, handover: Handover) -> int | None:
        provider = self.db.provider
        try:
            return provider.swap_binding(old, new, handover)
        except ConnectionLost:
            # It was committed or not; no two states are alike, so the store knows.
            if provider.get_binding(new.session_key) != new:
                raise
            session = None if new.active_session_id is None else provider.get_session(new.active_session_id)
            return session["last_seq"] if session is not None else 0
        except (NotFound, Conflict):
            # A session of the handover was deleted or continued since it was read: look again.
            return None

    def until_done(self, key: Key, attempt: Callable[[View], T | None]) -> T:
        """Read and try again until the attempt has an answer."""
        for number in range(TRIES):
            done = attempt(self.view(key))
            if done is not None:
                return done
            if number > 2:
                # Processes that wait the same time collide again; spread them.
                time.sleep(min(0.05, 0.001 * number) * random.random())
        raise Busy(f"the conversation {key.text} changed {TRIES} times meanwhile; try again")

    def mark(self, key: Key, **changes: Any) -> None:
        """Change the state of a conversation that there is."""

        def mark(view: View) -> bool | None:
            if view.binding is None:
                return True
            return (
                None
                if self.swap(view, view.state.next(**changes), view.binding.active_session_id, Handover()) is None
                else True
            )

        self.until_done(key, mark)

    def draft(self, message: Mapping[str, Any], *, injected: bool = False) -> Draft:
        """A message in its stored form, by the way that every message goes: media into files, credentials out."""
        given = {**message, "injected": True} if injected else dict(message)
        return self.db._draft(given, float(self.clock()))

    def prepared(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """A message as it may wait in the store: what `draft` takes out is out already."""
        content = message.get("content")
        if isinstance(content, list | dict):
            given = checked_media(message.get("media_refs"))
            content, found = media.extract(content, self.db._media_store().put)
            message = {**message, "content": content, "media_refs": [*found, *given]}
        return dict(self.db._message(message))
