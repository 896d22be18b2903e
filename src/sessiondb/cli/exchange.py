"""What `push` and `pull` share: a move into a store that has sessions of its own, once or again and again."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from .. import config
from ..errors import Unavailable
from ..migrate import Summary, migrate
from . import answers, options, output
from .migrate import Phases, give, sentence

F = TypeVar("F", bound=Callable[..., Any])


def _seconds(text: str) -> float:
    found = float(text)
    if not found >= 0.1:
        raise ValueError("at least 0.1 seconds")
    return found


def repeating(command: F) -> F:
    """--watch, --every and --dry-run."""
    for option in (
        options.flag("--dry-run", help="Say what would happen, write nothing."),
        options.option(
            "--every", convert=_seconds, default=5.0, show_default=True, metavar="SECONDS", help="How often it watches."
        ),
        options.flag("--watch", help="Go on until interrupted; a store that is away is waited for."),
    ):
        command = option(command)
    return command


def exchange(
    source: str | None, target: str | None, name: str, *, watch: bool, every: float, dry_run: bool, form: answers.Form
) -> None:
    verb = f"{name.capitalize()}ed"
    file = os.path.join(config.home_directory(os.environ), f"quarantine-{time.strftime('%Y%m%d-%H%M%S')}.jsonl")

    def once() -> Summary:
        with Phases() as phases:
            return migrate(source, target, merge=True, dry_run=dry_run, quarantine=file, tick=phases.tick)

    if not watch:
        give(once(), form, name, verb)
        return
    _watch(once, every, name, form)


def _watch(once: Callable[[], Summary], every: float, name: str, form: answers.Form) -> None:
    """Tell what is new, and nothing while there is nothing."""
    told: set[str] = set()
    with _interruptible() as interrupts:
        while not interrupts:
            try:
                done = once()
            except Unavailable as exc:
                output.complain(f"{exc}; trying again in {every:g} s")
            else:
                _tell(done, told, name, form)
            if not interrupts:
                time.sleep(every)
        raise KeyboardInterrupt


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """Interrupts so far: Python drops one that comes while it tidies up, and the watch would go on."""
    interrupts: list[int] = []

    def interrupt(number: int, _: object) -> NoReturn:
        interrupts.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


def _tell(done: Summary, told: set[str], name: str, form: answers.Form) -> None:
    if done.sessions or done.updated:
        if form:
            answers.give("jsonl", name, {"sessions": done.sessions, "messages": done.messages})
        else:
            output.say(sentence(done, f"{name.capitalize()}ed"))
        # Whoever follows through a pipe wants to see it now.
        sys.stdout.flush()
    for session, why in done.conflicts.items():
        if session not in told:
            told.add(session)
            output.complain(f"{session}: {why}")
