"""Which session a message is part of, and whose turn it is: read, decide, swap; again when somebody was faster.

The binding in the store is the only truth, so any number of processes may route the messages of the same chats:

    router = Router(db)
    arrival = router.receive(Source("telegram", chat_id="42", user_id="7"), "hello", message_key="update:1001")
    if arrival.turn is not None:
        with arrival.turn as turn:
            turn.append([{"role": "assistant", "content": answer(turn.history())}])
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..api.sessions import session_values
from ..bindings import Binding, Handover
from ..db import SessionDB
from ..errors import Invalid, NotSupported
from ..ids import new_session_id
from ..models import Draft, SessionRow
from . import policy as policies_of
from . import state as states
from .arrival import Arrival, Entry, Route
from .keys import Aliases, Key, Rules, Source, display_name, person, session_key
from .policy import Policies, reset_reason, told
from .scope import Scope, Visibility, scope_of
from .state import Lease, Notice, Saving, State
from .table import Table, View, key_of
from .turn import Turn, interruption, is_alive

if TYPE_CHECKING:
    from .transcripts import Transcripts

logger = logging.getLogger("sessiondb.gateway")
RESET, SWITCHED = "session_reset", "session_switch"
WHEN_BUSY = ("interrupt", "queue")
# A hook that fails is asked again, but not for ever.
SAVING_TRIES = 3

_RULES, _POLICIES = Rules(), Policies()

BeforeReset = Callable[[str, str], None]


class Router(Table):
    def __init__(
        self,
        db: SessionDB,
        *,
        rules: Rules = _RULES,
        policies: Policies = _POLICIES,
        when_busy: str = "interrupt",
        lease_seconds: float = 300.0,
        visibility: Visibility = "chat",
        titles: str = "store",
        canonical: Aliases | None = None,
        is_busy: Callable[[str], bool] = lambda key: False,
        before_reset: BeforeReset | None = None,
        transcripts: Transcripts | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`is_busy(key)` tells of work in the background; `before_reset(session_id, reason)` saves memories."""
        if when_busy not in WHEN_BUSY:
            raise Invalid(f"when_busy must be one of {', '.join(WHEN_BUSY)}, not {when_busy!r}")
        if not db.features.bindings:
            raise NotSupported(
                f"{db.provider.name} keeps no bindings, so no gateway can run on it; use SQLite or a server"
            )
        self.db, self.rules, self.policies, self.canonical = db, rules, policies, canonical
        self.when_busy, self.lease_seconds = when_busy, lease_seconds
        self.visibility, self.titles = visibility, titles
        self.is_busy, self.before_reset, self.transcripts, self.clock = is_busy, before_reset, transcripts, clock
        self.holder = f"{os.uname().nodename}:{os.getpid()}:{os.urandom(4).hex()}"

    # --- what callers ask ---

    def key(self, source: Source) -> Key:
        return session_key(source, self.rules, canonical=self.canonical)

    def scope(self, source: Source) -> Scope:
        """What the person who sent a message may see."""
        return scope_of(self.db, self.key(source), self._person(source), self.visibility, self.titles)

    def resolve(self, source: Source) -> Route:
        """The session of a conversation; a new one when there is none, or when its time is over."""
        key = self.key(source)

        def enter(view: View) -> Route | None:
            entry = self._entry(view, source)
            if entry is None:
                return None
            if entry.create is None:
                return Route(key, entry.session_id, notice=view.state.notice)
            state = view.state.next(**_entered(entry), notice=entry.notice, **_without_lease(view))
            handover = Handover(left=self._left(view, "reset"), end=entry.end, create=entry.create)
            if self.swap(view, state, entry.session_id, handover, self._person(source)) is None:
                return None
            return Route(key, entry.session_id, True, entry.notice)

        return self.until_done(key, enter)

    def receive(self, source: Source, message: str | Mapping[str, Any], *, message_key: str | None = None) -> Arrival:
        """Store a message, once, and begin the turn that answers it; or queue it behind the turn that runs."""
        key = self.key(source)
        given: dict[str, Any] = {"role": "user", **({"content": message} if isinstance(message, str) else message)}
        if message_key is not None:
            given["message_key"] = message_key
        given.setdefault("timestamp", self.clock())
        if key.shared:
            sender = {"user_id": self._person(source), "name": display_name(replace(source, chat_name=None))}
            given["metadata"] = {**(given.get("metadata") or {}), "sender": sender}
        # Refused here, before anything waits in a queue for ever.
        self.draft(given)
        return self.until_done(key, lambda view: self._received(view, source, given))

    def reset(self, source: Source, reason: str = "new") -> Route:
        """End the session and begin another, as somebody asked; a running turn is interrupted."""
        key = self.key(source)

        def begin(view: View) -> Route | None:
            entry = self._fresh(view, source, reason)
            state = view.state.next(**_entered(entry), notice=None, waiting=_unplaced(view), **_without_lease(view))
            handover = Handover(left=self._left(view, "reset", with_waiting=True), end=entry.end, create=entry.create)
            if self.swap(view, state, entry.session_id, handover, self._person(source)) is None:
                return None
            return Route(key, entry.session_id, True)

        return self.until_done(key, begin)

    def switch(self, source: Source, session_id: str) -> Route:
        """Go on in an earlier session of the same person. Raises NotFound for one that is not theirs to see."""
        key = self.key(source)
        target = self.scope(source).get(session_id)["id"]

        def move(view: View) -> Route | None:
            if view.session is not None and view.session["id"] == target:
                return Route(key, target)
            state = view.state.next(
                **_FORGOTTEN, notice=None, waiting=_unplaced(view), **_without_lease(view),
            )  # fmt: skip
            handover = Handover(
                left=self._left(view, "switch", with_waiting=True),
                end=None if view.session is None else (view.session["id"], SWITCHED, view.now),
                reopen=target,
                # Moves the position on: a turn that still runs there, from another chat, is over.
                messages=[self.draft(interruption("resumed", state.token), injected=True)],
            )
            return (
                None if self.swap(view, state, target, handover, self._person(source)) is None else Route(key, target)
            )

        return self.until_done(key, move)

    def suspend(self, source: Source) -> None:
        """Begin anew with the next message."""
        self.mark(self.key(source), suspended=True)

    def resume_later(self, source: Source) -> None:
        """Go on in this session with the next message, whatever its age: the gateway stops in the middle of it."""
        self.mark(self.key(source), resume_pending=True)

    def recover(self) -> list[str]:
        """Turns of processes that died are stored as interrupted and their sessions kept; returns the keys."""
        dead = [each for each in self.bindings() if self._is_dead(states.read(each.reset_state).lease)]
        return [each.session_key for each in dead if self._recovered(each)]

    def take_up(self, key: Key) -> Turn | None:
        """A turn that goes on where one stopped, without a new message; None when nothing is pending."""

        def begin(view: View) -> tuple[Turn | None] | None:
            if view.session is None or view.state.lease is not None or not view.state.resume_pending:
                return (None,)
            lease = Lease(self.holder, view.state.token + 1, view.now + self.lease_seconds, None, view.state.pending)
            messages = [self.draft(each) for each in view.state.waiting]
            state = view.state.next(lease=lease, token=lease.token, waiting=(), resume_pending=False, pending=None)
            last_seq = self.swap(view, state, view.session["id"], Handover(messages=messages))
            return None if last_seq is None else (Turn(self, key, view.session["id"], lease, last_seq),)

        return self.until_done(key, begin)[0]

    # --- how a message arrives ---

    def _received(self, view: View, source: Source, given: dict[str, Any]) -> Arrival | None:
        message_key = given.get("message_key")
        lease = view.state.lease
        runs = lease is not None and view.session is not None and is_alive(lease, view.now)
        stored_in = self.stored_in(view, message_key)
        unfinished = stored_in is not None and not runs and _pending(view.state) == message_key
        if stored_in is not None and (not unfinished or view.session is None):
            return Arrival("duplicate", stored_in)
        if lease is not None and runs and (self.when_busy == "queue" or self._is_anothers(lease, view.key, source)):
            return self._queued(view, given, source)
        stays = view.session is not None and (runs or unfinished)
        entry = Entry(view.session["id"]) if stays and view.session is not None else self._entry(view, source)
        return None if entry is None else self._started(view, source, entry, given, new=stored_in is None)

    def _is_anothers(self, lease: Lease, key: Key, source: Source) -> bool:
        return key.shared and lease.user_id != self._person(source)

    def stored_in(self, view: View, message_key: str | None) -> str | None:
        """Where a message was stored when it was delivered before: a platform may deliver after a reset, too."""
        if message_key is None:
            return None
        if any(each.get("message_key") == message_key for each in view.state.waiting):
            return view.session["id"] if view.session is not None else ""
        places = [view.session["id"]] if view.session is not None else []
        places += [view.binding.active_session_id] if view.binding and view.binding.active_session_id else []
        return self.db.provider.find_keys([*places, *view.state.recent], [message_key]).get(message_key)

    def _queued(self, view: View, given: dict[str, Any], source: Source) -> Arrival | None:
        assert view.binding is not None
        active = view.binding.active_session_id
        state = view.state.next(waiting=(*view.state.waiting, self.prepared(given)))
        done = self.swap(view, state, active, Handover(), self._person(source))
        return None if done is None else Arrival("queued", active or "")

    def _started(self, view: View, source: Source, entry: Entry, given: dict[str, Any], *, new: bool) -> Arrival | None:
        before = view.state
        lease = Lease(
            self.holder, before.token + 1, view.now + self.lease_seconds, self._person(source), given.get("message_key")
        )
        state = before.next(**_entered(entry), lease=lease, token=lease.token, notice=None, waiting=())
        messages = [self.draft(each) for each in (*before.waiting, *([given] if new else []))]
        stays = view.session is not None and view.session["id"] == entry.session_id
        left = self._left(view, "new message" if stays else "reset")
        handover = Handover(left=left, end=entry.end, create=entry.create, messages=messages)
        last_seq = self.swap(view, state, entry.session_id, handover, self._person(source))
        if last_seq is None:
            return None
        notice = entry.notice or before.notice
        tell = notice is not None and told(self._policy(view.key), view.key.platform, had_activity=notice.had_activity)
        turn = Turn(self, view.key, entry.session_id, lease, last_seq)
        return Arrival("started", entry.session_id, turn, notice, tell)

    # --- which session ---

    def _entry(self, view: View, source: Source) -> Entry | None:
        """The session to go on in; None when the store has to be read again."""
        reason = self.reason(view)
        if reason is None:
            assert view.session is not None
            return Entry(view.session["id"])
        if reason in _SAVED_FIRST and self.save_first(view, reason):
            return None
        return self._fresh(view, source, reason)

    def reason(self, view: View) -> str | None:
        """Why a new session begins: "new" when there never was one, else what `reset_reason` says."""
        if view.session is None:
            return "ended" if view.state.notice or view.state.recent else "new"
        lease = view.state.lease
        facts = policies_of.State(
            last_active=_last_active(view.session),
            suspended=view.state.suspended,
            resume_pending=view.state.resume_pending,
            busy=(lease is not None and is_alive(lease, view.now)) or self.is_busy(view.key.text),
            ended=view.session["ended_at"] is not None,
        )
        saving = view.state.saving
        if saving is not None and saving.session_id == view.session["id"] and not (facts.busy or facts.ended):
            return saving.reason
        return reset_reason(self._policy(view.key), facts, view.now)

    def _fresh(self, view: View, source: Source, reason: str) -> Entry:
        now, old = view.now, view.session
        parent = old["id"] if old is not None else view.state.notice.previous if view.state.notice else None
        if parent is not None and self.db.provider.get_session(parent) is None:
            parent = None
        notice = view.state.notice
        if old is not None and reason != "new":
            notice = Notice(reason, old["id"], bool(old["message_count"]))
        fields = {
            "user_id": None if view.key.shared else self._person(source),
            "session_key": view.key.text,
            "chat_id": view.key.chat_id or None,
            "chat_type": view.key.chat_type,
            "thread_id": view.key.thread_id or None,
            "display_name": display_name(source),
            "parent_session_id": parent,
            "relation": "reset" if parent else None,
            "metadata": {"reset": {"reason": notice.reason if notice else reason, "previous": parent}}
            if parent
            else None,
        }
        created = session_values(new_session_id(now), view.key.platform, now, fields)
        end = None if old is None else (old["id"], RESET, now)
        return Entry(created["id"], created, end, notice)

    def save_first(self, view: View, reason: str) -> bool:
        """Give the agent its turn before a reset; False when it had it, has it just now, or failed too often.

        A try is counted in the store before it runs: a restart goes on counting.
        """
        if view.session is None or view.binding is None or self.before_reset is None:
            return False
        session_id = view.session["id"]
        saving = view.state.saving
        if saving is None or saving.session_id != session_id:
            saving = Saving(session_id, reason)
        if saving.done or saving.tries >= SAVING_TRIES or self.is_saving(view):
            return False
        saving = replace(saving, tries=saving.tries + 1, holder=self.holder, until=view.now + self.lease_seconds)
        active = view.binding.active_session_id
        if self.swap(view, view.state.next(saving=saving), active, Handover()) is not None:
            done = self._saved(self.before_reset, saving)
            self.mark(view.key, saving=replace(saving, done=done, until=0.0))
        return True

    def is_saving(self, view: View) -> bool:
        """Whether somebody saves memories of this session just now."""
        saving = view.state.saving
        return saving is not None and not saving.done and is_alive(saving, view.now)

    def _saved(self, before_reset: BeforeReset, saving: Saving) -> bool:
        try:
            before_reset(saving.session_id, saving.reason)
        except Exception as exc:  # noqa: BLE001 - whatever the hook of a host raises, it is asked again
            kind = type(exc).__name__
            logger.warning("saving before a reset failed, try %d of %d: %s", saving.tries, SAVING_TRIES, kind)
            return False
        return True

    # --- turns of processes that are gone ---

    def _recovered(self, binding: Binding) -> bool:
        key = key_of(binding)

        def recover(view: View) -> bool | None:
            if not self._is_dead(view.state.lease):
                return False
            pending = view.state.lease.message_key if view.state.lease is not None else None
            state = view.state.next(lease=None, resume_pending=view.session is not None, pending=pending)
            active = view.session["id"] if view.session is not None else None
            handover = Handover(left=self._left(view, "stopped"))
            return None if self.swap(view, state, active, handover) is None else True

        return bool(self.until_done(key, recover))

    def _is_dead(self, lease: Lease | None) -> bool:
        return lease is not None and not is_alive(lease, self.clock())

    def _left(self, view: View, why: str, *, with_waiting: bool = False) -> tuple[str, list[Draft]] | None:
        """The record that a turn was interrupted; it moves the session's position on, so that turn cannot append."""
        place = _place(view)
        if place is None:
            return None
        lease = view.state.lease
        records = []
        if lease is not None:
            reason = why if is_alive(lease, view.now) else "stopped"
            records.append(self.draft(interruption(reason, lease.token), injected=True))
        if with_waiting:
            records += [self.draft(each) for each in view.state.waiting]
        return (place, records) if records else None

    def _policy(self, key: Key) -> policies_of.ResetPolicy:
        return self.policies.of(key.platform, key.chat_type)

    def _person(self, source: Source) -> str | None:
        return person(source, canonical=self.canonical)


_SAVED_FIRST = ("idle", "daily", "suspended")
_FORGOTTEN: dict[str, Any] = {"suspended": False, "resume_pending": False, "pending": None, "saving": None}


def _entered(entry: Entry) -> dict[str, Any]:
    if entry.create is None:
        return {"resume_pending": False, "pending": None}
    return _FORGOTTEN


def _place(view: View) -> str | None:
    """Where the turn of a lease appends: not always where the conversation goes on since."""
    return view.binding.active_session_id if view.binding is not None and view.session is not None else None


def _unplaced(view: View) -> tuple[dict[str, Any], ...]:
    """What still waits when a session is left: nothing, for it is stored there, unless the session is gone."""
    return view.state.waiting if _place(view) is None else ()


def _pending(state: State) -> str | None:
    """The key of the message whose turn did not end."""
    return state.lease.message_key if state.lease is not None else state.pending


def _without_lease(view: View) -> dict[str, Any]:
    """No turn runs; those that ran learn it from a token that is not theirs."""
    return {"lease": None, "token": view.state.token + 1}


def _last_active(session: SessionRow) -> float:
    return session["started_at"] if session["last_active"] is None else session["last_active"]
