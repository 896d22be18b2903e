"""An answer on its way to a person: shown while it is made by changing the message, where the platform can.

streaming:
  enabled: true
  edit_interval: 1.0        # seconds between two changes
  buffer_threshold: 40      # characters that are worth a change of their own
  cursor: " ▉"
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

from ..config_file import Check, flag, seconds, whole
from .channels.base import Channel, NotDelivered
from .keys import Source
from .pieces import pieces

logger = logging.getLogger("sessiondb.gateway.streaming")
# A shown change is a comfort; platforms end it when it comes more often.
_LEAST_INTERVAL = 0.05
_TYPING = 4.0


def _any_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("text")
    return value


KEYS: dict[str, Check] = {
    "enabled": flag, "edit_interval": seconds, "buffer_threshold": whole, "cursor": _any_text,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Streaming:
    enabled: bool = True
    edit_interval: float = 1.0
    buffer_threshold: int = 40
    cursor: str = " ▉"


def settings(given: Mapping[str, Any]) -> Streaming:
    return Streaming(**given)


class Segment:
    """One text on the platform, in as many messages as it needs."""

    def __init__(self, channel: Channel, to: Source, room: int = 0, ids: Sequence[str] = ()) -> None:
        """`ids` of messages that are there already, with whatever text."""
        self._channel, self._to = channel, to
        # Room is left for the cursor, so that it never makes another message.
        self._longest = channel.longest - room
        self.ids = list(ids)
        self._shown: list[str | None] = [None] * len(self.ids)

    def show(self, text: str, cursor: str = "") -> None:
        """Bring the platform to this text. Raises NotDelivered."""
        parts = pieces(text, self._longest, self._channel.measure)
        for number, part in enumerate(parts):
            wanted = part + (cursor if number == len(parts) - 1 else "")
            if number >= len(self.ids):
                self.ids.append(self._channel.send(self._to, wanted))
                self._shown.append(wanted)
            elif self._shown[number] != wanted:
                self._replace(number, wanted)

    def _replace(self, number: int, wanted: str) -> None:
        if not self._edited(self.ids[number], wanted):
            self.ids[number] = self._channel.send(self._to, wanted)
        self._shown[number] = wanted

    def _edited(self, message_id: str, wanted: str) -> bool:
        """Whether the message has this text now; one that somebody deleted, or that may not be changed, has not."""
        if not self._channel.can_edit:
            return False
        try:
            self._channel.edit(self._to, message_id, wanted)
        except NotDelivered as exc:
            if not exc.final:
                raise
            return False
        return True


class Stream:
    """Listens to an answer, and shows it from a thread of its own: a slow platform never holds up the model."""

    def __init__(self, channel: Channel, to: Source, settings: Streaming) -> None:
        self._channel, self._to, self._settings = channel, to, settings
        self._edits = settings.enabled and channel.can_edit
        self._room = channel.measure(settings.cursor) if self._edits else 0
        self._changed = Condition()
        self._segments: list[tuple[Segment, str]] = []
        self._current, self._text = self._segment(), ""
        self._notices: list[str] = []
        self._sent: tuple[str, ...] = ()
        self._over = False
        self._thread = Thread(target=self._run, name="sessiondb-stream", daemon=True)
        self._thread.start()

    def _segment(self) -> Segment:
        return Segment(self._channel, self._to, self._room)

    # --- what the loop says ---

    def text(self, piece: str) -> None:
        with self._changed:
            self._text += piece
            self._changed.notify()

    def tool_begins(self, name: str, arguments: str) -> None:
        """What was said before a tool runs is a message of its own."""
        with self._changed:
            if self._text.strip():
                self._segments.append((self._current, self._text))
                self._current, self._text = self._segment(), ""
                self._changed.notify()

    def tool_ends(self, name: str, result: str) -> None:
        return

    def notice(self, sentence: str) -> None:
        with self._changed:
            self._notices.append(sentence)
            self._changed.notify()

    # --- what the person sees ---

    def finish(self, text: str) -> list[str]:
        """Show the end of the answer; the platform's ids of all that was sent. Raises NotDelivered."""
        self.stop()
        self._show_done()
        if text.strip():
            self._current.show(text)
        return [*self._sent, *self._current.ids]

    def flush(self) -> tuple[list[str], int]:
        """Show all there is, as unfinished; the ids of its messages, and how much room they leave for a cursor.

        Stored with the answer, they let another process finish these messages instead of sending new ones.
        """
        self.stop()
        if self._edits and self._text.strip():
            self._quietly(lambda: self._current.show(self._text, self._settings.cursor))
        return list(self._current.ids), self._room

    def settle(self) -> None:
        """Leave what is shown of an answer that ended early, without the cursor. Raises NotDelivered."""
        self.stop()
        if self._current.ids:
            self._current.show(self._text)

    def stop(self) -> None:
        """Show nothing more of its own accord."""
        with self._changed:
            self._over = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        shown, at, typed = 0, time.monotonic(), 0.0
        while not self._over:
            if time.monotonic() - typed > _TYPING:
                typed = time.monotonic()
                self._quietly(lambda: self._channel.typing(self._to))
            with self._changed:
                self._changed.wait(max(_LEAST_INTERVAL, self._settings.edit_interval) / 2)
                text, current, done = self._text, self._current, bool(self._segments or self._notices)
            if self._over:
                return
            if done:
                self._quietly(self._show_done)
                shown = 0
            if self._edits and text.strip() and self._is_due(len(text) - shown, time.monotonic() - at):
                self._quietly(lambda text=text, current=current: current.show(text, self._settings.cursor))
                shown, at = len(text), time.monotonic()

    def _is_due(self, fresh: int, waited: float) -> bool:
        if fresh <= 0 or waited < _LEAST_INTERVAL:
            return False
        return waited >= self._settings.edit_interval or fresh >= self._settings.buffer_threshold

    def _show_done(self) -> None:
        """In their order; what the platform does not take now stays for the next time."""
        while self._segments:
            segment, text = self._segments[0]
            segment.show(text)
            self._sent = (*self._sent, *segment.ids)
            self._segments.pop(0)
        while self._notices:
            self._sent = (*self._sent, self._channel.send(self._to, self._notices[0]))
            self._notices.pop(0)

    def _quietly(self, show: Any) -> None:
        try:
            show()
        except NotDelivered as exc:
            fields = {"channel": self._channel.name, "error": type(exc).__name__}
            logger.debug("not shown yet", extra={"fields": fields})
