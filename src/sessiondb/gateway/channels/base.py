"""A channel: brings what people write on a platform as events, and carries answers back. One page, all of it.

A channel is a class named in the registry's group `channels`, made with its section of config.yaml:

    class Pigeon(Channel):
        name = "pigeon"
        KEYS: ClassVar[Mapping[str, Check]] = {"loft": text}

        def start(self, intake):    # begin to listen; call intake.take(event) for each message
        def stop(self):             # take nothing more
        def send(self, to, text):   # returns the platform's id of what was sent

`take` returns when the message is stored. Only then may a channel tell its platform that it has it; after an error it
does not, and the platform delivers again. What is delivered twice has one `key` and is stored once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from ...config_file import Check
from ...errors import NotSupported, Unavailable
from ..keys import Source
from .web import WebServer


class NotDelivered(Unavailable):
    """The platform did not take a message. `wait`: how long it asked to be left alone."""

    def __init__(self, sentence: str, wait: float | None = None, *, final: bool = False) -> None:
        super().__init__(sentence)
        self.wait, self.final = wait, final


@dataclass(frozen=True, slots=True)
class Media:
    """A file somebody sent: kept by path and hash, never in the store; without a path when the platform has it not."""

    kind: str
    path: str | None = None
    sha256: str | None = None
    size: int | None = None
    mime_type: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A message as it came in. `key` is the same whenever it is delivered; `message_id` is the platform's."""

    source: Source
    text: str
    key: str
    message_id: str
    media: tuple[Media, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


class Intake(Protocol):
    """What a channel gets from the host."""

    web: WebServer

    def take(self, event: Event) -> None:
        """Store a message and begin its answer. Raises when it is not stored: let the platform deliver again."""

    def keep(self, data: bytes, kind: str, *, mime_type: str | None = None, name: str | None = None) -> Media:
        """Put a file into the media directory."""


class Channel(ABC):
    name: ClassVar[str]
    # The settings it takes, each with its check; those of `NEEDS` must be there.
    KEYS: ClassVar[Mapping[str, Check]]
    NEEDS: ClassVar[tuple[str, ...]] = ()
    # The longest text of one message, and whether a sent one can be changed.
    longest: ClassVar[int] = 4096
    can_edit: ClassVar[bool] = False

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    @abstractmethod
    def start(self, intake: Intake) -> None: ...

    @abstractmethod
    def stop(self) -> None: ...

    @abstractmethod
    def send(self, to: Source, text: str) -> str:
        """Send a text; the platform's id of it. Raises NotDelivered."""

    def edit(self, to: Source, message_id: str, text: str) -> None:
        """Change what was sent. Raises NotDelivered."""
        raise NotSupported(f"{self.name} cannot change what was sent")

    def typing(self, to: Source) -> None:
        """Show that an answer is being made; most platforms have nothing for it."""
        return

    def send_file(self, to: Source, path: Path, caption: str) -> str:
        """Send a file; the platform's id of it."""
        raise NotSupported(f"files cannot be sent on {self.name} from here")

    def measure(self, text: str) -> int:
        """The length of a text as the platform counts it."""
        return len(text)
