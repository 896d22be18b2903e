"""One turn of a conversation: from a message to the end of its answer.

A turn is fenced by the position of its session. Whoever takes a conversation over appends a record of the
interruption in the same transaction, so a turn that is over finds that the position is not the one it knows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import blake2s
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..bindings import Handover
from ..errors import Conflict, Invalid, NotFound
from ..models import Draft
from .keys import Key
from .scope import Scope, scope_of
from .state import Lease, Saving

if TYPE_CHECKING:
    from .router import Router
    from .table import View

INTERRUPTED = "interrupted"
_NOT_FOR_MODELS = ("meta", "session_meta")


class Interrupted(Conflict):
    """The turn is over: another message, a reset or another process took the conversation."""


def interruption(reason: str, token: int) -> dict[str, Any]:
    """The record of a turn that did not end by itself."""
    text = "[taken up again]" if reason == "resumed" else f"[interrupted: {reason}]"
    role = "session_meta" if reason == "resumed" else "assistant"
    finish = {} if reason == "resumed" else {"finish_reason": INTERRUPTED}
    return {"role": role, "content": text, "metadata": {"turn": token, "reason": reason}, **finish}


def _sender(message: Mapping[str, Any], otherwise: str | None) -> str | None:
    sender = (message.get("metadata") or {}).get("sender")
    return sender.get("user_id") if isinstance(sender, dict) else otherwise


def is_alive(lease: Lease | Saving, now: float) -> bool:
    """Whether the holder of a lease may still be at work: not after its time, not when its process is gone."""
    return now < lease.until and not _process_is_gone(lease.holder)


def _process_is_gone(holder: str) -> bool:
    host, _, rest = holder.partition(":")
    number = rest.partition(":")[0]
    if host != os.uname().nodename or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


class Turn:
    """Leave it with `end`, or as a context; an exception inside is stored as an interruption."""

    def __init__(self, router: Router, key: Key, session_id: str, lease: Lease, last_seq: int) -> None:
        self.router, self.key, self.session_id = router, key, session_id
        self.lease = lease
        self._seq = last_seq
        self._appended = 0
        self._mark = blake2s(key.text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        self.following: Turn | None = None
        self.ended = False

    @property
    def token(self) -> int:
        return self.lease.token

    @property
    def scope(self) -> Scope:
        """What the person whose message is answered may see; tools must not look around it."""
        return scope_of(self.router.db, self.key, self.lease.user_id, self.router.visibility, self.router.titles)

    def history(self) -> list[dict[str, Any]]:
        """The conversation so far, in the form that model APIs take."""
        found = self.router.db.get_messages_as_conversation(self.session_id, repair=True)
        return [each for each in found if each["role"] not in _NOT_FOR_MODELS]

    def append(self, messages: Iterable[Mapping[str, Any]]) -> list[int]:
        """Store what the agent said. Raises Interrupted when the turn is over.

        After a lost connection the same call may be made again: it stores nothing twice.
        """
        drafts = self._drafts(messages)
        if not drafts:
            return []
        if self.router.clock() > self.lease.until - self.router.lease_seconds / 2:
            self.renew()
        ids = self._stored(drafts)
        self._appended += len(drafts)
        self._seq += len(drafts)
        if self.router.transcripts is not None:
            self.router.transcripts.write(self.router.db, self.session_id)
        return ids

    def _drafts(self, messages: Iterable[Mapping[str, Any]]) -> list[Draft]:
        return [self.router.draft(self._keyed(message, number)) for number, message in enumerate(messages)]

    def _stored(self, drafts: list[Draft]) -> list[int]:
        while True:
            try:
                return self.router.db.provider.append(self.session_id, drafts, expected_seq=self._seq)
            except Conflict:
                self._look_again()
            except NotFound:
                raise self._over() from None

    def _keyed(self, message: Mapping[str, Any], number: int) -> dict[str, Any]:
        if not isinstance(message, Mapping):
            raise Invalid(f"a message must be a dict, not {type(message).__name__}")
        key = f"turn:{self._mark}:{self.token}:{self._appended + number}"
        return {"message_key": key, **message}

    def _look_again(self) -> None:
        """Somebody appended: another process that may, or one that took over. The position first, then the holder:
        a take-over after that moves the position on again."""
        session = self.router.db.provider.get_session(self.session_id)
        if session is None or not self._is_mine(self.router.view(self.key)):
            raise self._over()
        self._seq = session["last_seq"]

    def is_current(self) -> bool:
        """Whether the turn still has its conversation; only reads."""
        return self._is_mine(self.router.view(self.key))

    def _is_mine(self, view: View) -> bool:
        lease = view.state.lease
        return (
            lease is not None
            and (lease.holder, lease.token) == (self.lease.holder, self.lease.token)
            and view.session is not None
            and view.binding is not None
            and view.binding.active_session_id == self.session_id
        )

    def _over(self) -> Interrupted:
        return Interrupted(f"turn {self.token} of {self.key.text} is over: the conversation went on without it")

    def renew(self) -> None:
        """Say that the turn is still at work. Raises Interrupted when it is over."""

        def renew(view: View) -> Lease | None:
            if not self._is_mine(view):
                raise self._over()
            lease = Lease(
                self.lease.holder, self.token, view.now + self.router.lease_seconds,
                self.lease.user_id, self.lease.message_key,
            )  # fmt: skip
            done = self.router.swap(view, view.state.next(lease=lease), self.session_id, Handover())
            return None if done is None else lease

        self.lease = self.router.until_done(self.key, renew)

    def rotate(self, **fields: Any) -> str:
        """Go on in a continuation of a session that was compressed; returns its id."""
        self.renew()
        child = self.router.db.rotate_session(self.session_id, **fields)

        def follow(view: View) -> int | None:
            lease = view.state.lease
            if lease is None or (lease.holder, lease.token) != (self.lease.holder, self.token):
                raise self._over()
            return self.router.swap(view, view.state.next(), child, Handover())

        self._seq = self.router.until_done(self.key, follow)
        self.session_id = child
        return child

    def end(self, messages: Iterable[Mapping[str, Any]] = ()) -> Turn | None:
        """Finish, with the last words in the same transaction; the turn that answers what waited, or None.

        A message whose answer is stored this way is never answered again. Raises Interrupted when the turn was over.
        """
        drafts = self._drafts(messages)

        def finish(view: View) -> tuple[Turn | None] | None:
            if not self._is_mine(view):
                raise self._over()
            if view.state.waiting:
                return self._next(view, drafts)
            handover = Handover(messages=drafts)
            done = self.router.swap(view, view.state.next(lease=None), self.session_id, handover)
            return None if done is None else (None,)

        self.following = self.router.until_done(self.key, finish)[0]
        self.ended = True
        return self.following

    def _next(self, view: View, last_words: list[Draft]) -> tuple[Turn] | None:
        assert view.session is not None
        session_id, waiting = view.session["id"], view.state.waiting
        lease = Lease(
            self.lease.holder, view.state.token + 1, view.now + self.router.lease_seconds,
            _sender(waiting[-1], self.lease.user_id), waiting[-1].get("message_key"),
        )  # fmt: skip
        state = view.state.next(lease=lease, token=lease.token, waiting=())
        handover = Handover((self.session_id, last_words), messages=[self.router.draft(each) for each in waiting])
        last_seq = self.router.swap(view, state, session_id, handover)
        return None if last_seq is None else (Turn(self.router, self.key, session_id, lease, last_seq),)

    def abandon(self, reason: str = "failed", *, resume: bool = False) -> bool:
        """Give up: stored as an interruption; with `resume`, `take_up` goes on with it. False when it was over."""

        def give_up(view: View) -> bool | None:
            if not self._is_mine(view):
                return False
            later = {"resume_pending": True, "pending": self.lease.message_key} if resume else {}
            record = self.router.draft(interruption(reason, self.token), injected=True)
            handover = Handover(messages=[record])
            done = self.router.swap(view, view.state.next(lease=None, **later), self.session_id, handover)
            return None if done is None else True

        return self.router.until_done(self.key, give_up)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            if not self.ended:
                self.end()
        elif not isinstance(error, Interrupted):
            self.abandon()
