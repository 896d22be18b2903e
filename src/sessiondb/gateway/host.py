"""Feeds what channels bring to the router and the agent, and carries the answers back.

    host = Host(router, agent, [channel])
    host.start()
    ...
    host.stop(grace=20)

A message is stored before its channel hears that it was taken; its answer is stored before it is delivered. What a
process leaves unfinished, the next one takes up: turns that died are answered, answers nobody delivered are delivered.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Event as Flag
from threading import Lock, RLock, Thread
from typing import Any, Protocol

from ..bindings import Binding
from ..chat.desk import Desk, Outcome
from ..chat.talk import Listener, Reply, Talk
from ..errors import NotSupported, SessionDBError, Unavailable
from . import delivery, noting, wording
from . import state as states
from .channels.base import Channel, Event, Media, NotDelivered
from .channels.web import WebServer
from .desk import ChatDesk
from .keys import Key, Source
from .router import Router
from .streaming import Segment, Stream, Streaming
from .table import key_of
from .turn import Interrupted, Turn

logger = logging.getLogger("sessiondb.gateway.host")
_STREAMING = Streaming()
_BEAT = 0.5
SORRY = "Something went wrong here; what you wrote is kept. Please try again in a while."


class Answering(Protocol):
    """What a host needs of an agent; `chat.loop.Agent` is one."""

    def answer(self, talk: Talk, listener: Listener, stop: Flag) -> Reply: ...


Obey = Callable[[str, Desk], Outcome | None]


@dataclass
class Counts:
    """What happened since the start, for the health of a process."""

    received: int = 0
    duplicates: int = 0
    sent: int = 0
    failed: int = 0
    last_event_at: float | None = None


@dataclass
class _Work:
    """A turn that runs here."""

    turn: Turn
    channel: Channel
    source: Source
    stop: Flag = field(default_factory=Flag)
    began: float = field(default_factory=time.monotonic)
    thread: Thread | None = None


class Host:
    def __init__(
        self,
        router: Router,
        agent: Answering,
        channels: Sequence[Channel],
        *,
        obey: Obey,
        web: WebServer | None = None,
        streaming: Streaming = _STREAMING,
        interval: float = 15.0,
        exchanged: Callable[[str], object] = lambda session_id: None,
    ) -> None:
        """`exchanged` hears the session of each question that was answered."""
        self.router, self.agent, self.obey, self.streaming = router, agent, obey, streaming
        self.channels = {each.name: each for each in channels}
        self.counts = {each.name: Counts() for each in channels}
        self.web = web or WebServer()
        self._interval, self._exchanged = interval, exchanged
        self._lock = Lock()
        self._lanes: dict[str, RLock] = {}
        self._working: dict[str, _Work] = {}
        self._taking = 0
        self._stopping = Flag()
        self._keeper: Thread | None = None

    # --- from the start to the end ---

    def start(self) -> None:
        self._keeper = Thread(target=self._keep, name="sessiondb-gateway-keeper", daemon=True)
        self._keeper.start()
        for channel in self.channels.values():
            channel.start(_Intake(self, channel))
            logger.info("started", extra={"fields": {"channel": channel.name}})

    def stop(self, grace: float = 20.0) -> None:
        """Take nothing more, let turns end for `grace` seconds, store the rest as interrupted."""
        self._stopping.set()
        for channel in self.channels.values():
            channel.stop()
        self.web.stop()
        if self._keeper is not None:
            self._keeper.join()
        deadline = time.monotonic() + grace
        while (self._taking or self._running()) and time.monotonic() < deadline:
            time.sleep(0.05)
        for work in self._running():
            self._leave(work)

    def _leave(self, work: _Work) -> None:
        """Stored as interrupted, and taken up by the next start."""
        work.turn.abandon("stopped", resume=True)
        work.stop.set()
        if work.thread is not None:
            work.thread.join(5.0)
        logger.info("interrupted", extra={"fields": {"session": work.turn.session_id, "turn": work.turn.token}})

    def _running(self) -> list[_Work]:
        with self._lock:
            return list(self._working.values())

    @property
    def turns(self) -> int:
        return len(self._running())

    # --- what comes in ---

    def take(self, channel: Channel, event: Event) -> None:
        counts = self.counts[channel.name]
        counts.last_event_at = time.time()
        if not event.text.strip() and not event.media:
            logger.info("empty", extra={"fields": {"channel": channel.name}})
            return
        key = self.router.key(event.source).text
        with self._lane(key), self._counted():
            if self._stopping.is_set():
                raise Unavailable("the gateway stops; the message is for the next one")
            if wording.is_command(event.text):
                self._command(channel, event)
            else:
                self._message(channel, event.source, wording.stored(event), event.key)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """What is being taken when the gateway stops is taken to its end: an export is removed after it was sent."""
        with self._lock:
            self._taking += 1
        try:
            yield
        finally:
            with self._lock:
                self._taking -= 1

    def _lane(self, key: str) -> RLock:
        with self._lock:
            if len(self._lanes) > 4096:
                self._lanes = {name: lane for name, lane in self._lanes.items() if name in self._working}
            return self._lanes.setdefault(key, RLock())

    def _message(self, channel: Channel, source: Source, message: Mapping[str, Any], message_key: str) -> None:
        arrival = self.router.receive(source, message, message_key=message_key)
        counts = self.counts[channel.name]
        counts.received += arrival.status != "duplicate"
        counts.duplicates += arrival.status == "duplicate"
        fields = {"channel": channel.name, "status": arrival.status, "session": arrival.session_id}
        logger.info("message", extra={"fields": fields})
        if arrival.turn is not None:
            if arrival.tell and arrival.notice is not None:
                sentence = f"A new conversation begins ({arrival.notice.reason}); /resume goes back."
                self._quietly(channel, lambda: channel.send(source, sentence))
            self._begin(_Work(arrival.turn, channel, source))

    def _begin(self, work: _Work) -> None:
        """Answer in a thread of its own; a turn of the same conversation that still runs here is over."""
        key = work.turn.key.text
        with self._lock:
            before = self._working.get(key)
            self._working[key] = work
            work.thread = Thread(target=self._work, args=(work,), name="sessiondb-turn", daemon=True)
        if before is not None:
            before.stop.set()
        work.thread.start()

    # --- commands ---

    def _command(self, channel: Channel, event: Event) -> None:
        metadata = {"platform_message_id": event.message_id, "command": True}
        counts = self.counts[channel.name]
        if not noting.noted(self.router, event.source, event.text, event.key, metadata):
            counts.duplicates += 1
            return
        counts.received += 1
        outcome = self._obeyed(event)
        logger.info("command", extra={"fields": {"channel": channel.name, "known": outcome is not None}})
        if outcome is None:
            self._message(channel, event.source, wording.stored(event), f"{event.key}:said")
            return
        self._tell(channel, event.source, outcome)
        if outcome.prompt is not None:
            self._message(channel, event.source, {"content": outcome.prompt}, f"{event.key}:prompt")

    def _obeyed(self, event: Event) -> Outcome | None:
        try:
            return self.obey(event.text.strip(), ChatDesk(self.router, event.source))
        except SessionDBError as exc:
            return Outcome(str(exc))

    def _tell(self, channel: Channel, to: Source, outcome: Outcome) -> None:
        if outcome.text.strip():
            self._quietly(channel, lambda: Stream(channel, to, Streaming(enabled=False)).finish(outcome.text))
        if outcome.file is not None:
            self._quietly(channel, lambda: self._handed(channel, to, outcome.file))

    def _handed(self, channel: Channel, to: Source, file: Path | None) -> None:
        assert file is not None
        try:
            channel.send_file(to, file, file.name)
        except NotSupported as exc:
            channel.send(to, str(exc))
        finally:
            # A copy of what somebody said must not stay behind.
            file.unlink()
            file.parent.rmdir()

    def _quietly(self, channel: Channel, send: Callable[[], Any]) -> None:
        counts = self.counts[channel.name]
        try:
            send()
            counts.sent += 1
        except NotDelivered as exc:
            counts.failed += 1
            fields = {"channel": channel.name, "error": type(exc).__name__}
            logger.warning("not delivered", extra={"fields": fields})

    # --- answers ---

    def _work(self, work: _Work) -> None:
        key = work.turn.key.text
        following: Turn | None = None
        try:
            following = self._answered(work)
        except Interrupted:
            logger.info("over", extra={"fields": {"session": work.turn.session_id, "turn": work.turn.token}})
        except Exception as exc:  # noqa: BLE001 - whatever fails, the turn is stored as interrupted and the person told
            self._failed(work, exc)
        finally:
            with self._lock:
                if self._working.get(key) is work:
                    del self._working[key]
        if following is not None:
            self._begin(_Work(following, work.channel, work.source))

    def _answered(self, work: _Work) -> Turn | None:
        turn, stream = work.turn, Stream(work.channel, work.source, self.streaming)
        watch = Thread(target=self._watch, args=(work,), name="sessiondb-watch", daemon=True)
        watch.start()
        try:
            reply = self.agent.answer(turn, stream, work.stop)
            answer_key = f"{sha256(turn.key.text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}:{turn.token}"
            session_id = turn.session_id
            following = turn.end(delivery.marked(reply.last_words, self.router, answer_key, stream.flush()))
        except Interrupted:
            self._quietly(work.channel, stream.settle)
            raise
        finally:
            work.stop.set()
            stream.stop()
            watch.join()
        fields = {"session": session_id, "turn": turn.token, "finish": reply.finish}
        logger.info("answered", extra={"fields": {**fields, "seconds": round(time.monotonic() - work.began, 3)}})
        self._deliver(work, stream, session_id, answer_key, wording.told(reply))
        if reply.finish == "stop":
            self._exchanged(session_id)
        return following

    def _deliver(self, work: _Work, stream: Stream, session_id: str, answer_key: str, text: str) -> None:
        counts = self.counts[work.channel.name]
        try:
            ids = stream.finish(text)
        except NotDelivered as exc:
            counts.failed += 1
            fields = {"channel": work.channel.name, "session": session_id, "error": type(exc).__name__}
            logger.warning("not delivered", extra={"fields": fields})
            return
        counts.sent += 1
        delivery.record(self.router, session_id, answer_key, ids)

    def _watch(self, work: _Work) -> None:
        """Notice that another process took the conversation, while the agent waits for its model."""
        while not work.stop.wait(_BEAT):
            try:
                if not work.turn.is_current():
                    work.stop.set()
            except SessionDBError:
                # A store that is away now may answer the next time; the turn itself will tell.
                continue

    def _failed(self, work: _Work, error: Exception) -> None:
        self.counts[work.channel.name].failed += 1
        fields = {"session": work.turn.session_id, "error": type(error).__name__}
        logger.error("failed", extra={"fields": fields})
        try:
            work.turn.abandon("failed")
        except SessionDBError as exc:
            logger.error("not stored", extra={"fields": {**fields, "error": type(exc).__name__}})
        self._quietly(work.channel, lambda: work.channel.send(work.source, SORRY))

    # --- what others left ---

    def _keep(self) -> None:
        while True:
            try:
                self.take_up()
            except SessionDBError as exc:
                logger.warning("could not look", extra={"fields": {"error": type(exc).__name__}})
            if self._stopping.wait(self._interval):
                return

    def take_up(self) -> None:
        """Answer what died unanswered, and deliver what was not delivered."""
        self.router.recover()
        for binding in self.router.bindings():
            channel = self.channels.get(binding.platform)
            if channel is not None and not self._stopping.is_set():
                self._taken_up(channel, binding)

    def _taken_up(self, channel: Channel, binding: Binding) -> None:
        key = key_of(binding)
        state = states.read(binding.reset_state)
        if state.resume_pending and state.lease is None:
            turn = self.router.take_up(key)
            if turn is not None:
                self._begin(_Work(turn, channel, source_of(key, binding)))
        elif state.lease is None:
            found = delivery.claim_undelivered(self.router, binding)
            if found is not None:
                self._delivered_late(channel, source_of(key, binding), found)

    def _delivered_late(self, channel: Channel, to: Source, answer: delivery.Undelivered) -> None:
        ids, room = answer.begun
        segment = Segment(channel, to, room, ids)
        self._quietly(channel, lambda: self._finished(segment, answer))

    def _finished(self, segment: Segment, answer: delivery.Undelivered) -> None:
        segment.show(answer.text)
        delivery.record(self.router, answer.session_id, answer.key, segment.ids)

    # --- files ---

    def keep(self, data: bytes, kind: str, mime_type: str | None, name: str | None) -> Media:
        store = self.router.db._media_store()
        digest = sha256(data).hexdigest()
        store.put(digest, data)
        return Media(kind, os.path.abspath(store.path(digest)), digest, len(data), mime_type, name)


class _Intake:
    def __init__(self, host: Host, channel: Channel) -> None:
        self._host, self._channel, self.web = host, channel, host.web

    def take(self, event: Event) -> None:
        self._host.take(self._channel, event)

    def keep(self, data: bytes, kind: str, *, mime_type: str | None = None, name: str | None = None) -> Media:
        return self._host.keep(data, kind, mime_type, name)


def source_of(key: Key, binding: Binding) -> Source:
    """Where to answer in a conversation that goes on without a new message."""
    return Source(
        key.platform, key.chat_type, key.chat_id or None, key.thread_id or None,
        key.participant or binding.user_id, profile=key.profile,
    )  # fmt: skip
