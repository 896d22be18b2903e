"""What the commands that look after a store share: the store as a place, not opened, and progress on long ways."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

import click

from .. import config, upkeep
from ..errors import NotFound
from . import options, output

P = ParamSpec("P")
Command = Callable[Concatenate[upkeep.Upkeep, str, P], None]

_QUIET_SECONDS = 1.0
_SHOW_EVERY = 0.1
_BAR = 24


def looking_after(command: Command[P]) -> Callable[P, None]:
    """Give the command the upkeep of the store's provider and the store's path; the store itself may be broken."""

    @options.place
    @options.debug
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        state = click.get_current_context().ensure_object(options.State)
        command(*place(state.place), *args, **kwargs)

    return run


def place(named: str | None) -> tuple[upkeep.Upkeep, str]:
    settings = config.load(named)
    for warning in settings.warnings:
        output.complain(warning)
    found = upkeep.of(settings.provider)
    path = settings.options.get("path")
    if path is None:
        raise NotFound(f"a {settings.provider} store has no file to look after")
    return found, str(path)


class Progress:
    """Tells on a terminal how far a long check has come; silent for the first second, and elsewhere."""

    def __init__(self, total: int | None = None) -> None:
        self._total = total
        self._done = 0
        self._began = self._shown = time.monotonic()
        self._visible = False

    def __call__(self, checked: int) -> None:
        self._done += checked
        now = time.monotonic()
        if now - self._began < _QUIET_SECONDS or now - self._shown < _SHOW_EVERY:
            return
        if output.is_terminal(sys.stderr):
            self._shown, self._visible = now, True
            print(f"\r{self._line()}\x1b[K", end="", file=sys.stderr, flush=True)

    def _line(self) -> str:
        if not self._total:
            return f"{self._done:,} messages"
        share = min(1.0, self._done / self._total)
        filled = int(_BAR * share)
        return f"[{'#' * filled}{'.' * (_BAR - filled)}] {self._done:,} of {self._total:,} messages"

    def finish(self) -> None:
        if self._visible:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
