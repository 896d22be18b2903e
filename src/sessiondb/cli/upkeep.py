"""What the commands that look after a store share: the store as a place, not opened."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from .. import config, registry, upkeep
from ..errors import NotFound, SessionDBError
from . import options, output
from .progress import Progress
from .store import open_store

_CHECKED = "messages checked"
P = ParamSpec("P")
Command = Callable[Concatenate[upkeep.Upkeep, str, P], None]


def looking_after(command: Command[P]) -> Callable[P, None]:
    """Give the command the upkeep of the store's provider and the store's path; the store itself may be broken."""

    @options.common
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        command(*place(options.state().place), *args, **kwargs)

    return run


def has_files(named: str | None) -> bool:
    """Whether the store is looked after from here, not by a server."""
    return registry.has("upkeep", config.load(named).provider)


def place(named: str | None) -> tuple[upkeep.Upkeep, str]:
    settings = config.load(named)
    for warning in settings.warnings:
        output.complain(warning)
    found = upkeep.of(settings.provider)
    path = settings.options.get("path")
    if path is None:
        raise NotFound(f"a {settings.provider} store has no file to look after")
    return found, str(path)


class CopyProgress(Progress):
    """Pages are copied, then the messages of the copy checked."""

    def __init__(self, messages: int | None = None) -> None:
        super().__init__(noun="pages copied")
        self._messages = messages

    def checked(self, more: int) -> None:
        if self.noun != _CHECKED:
            self.turn_to(self._messages, _CHECKED)
        self(more)


def messages_in(path: str) -> int | None:
    """How many messages there are to read, for the progress; None for a store that cannot tell."""
    try:
        with open_store(path, read_only=True) as db:
            return int(db.stats()["messages"])
    except SessionDBError:
        return None
