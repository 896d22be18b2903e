"""What `push` and `pull` share: a move into a store that has sessions of its own, once or again and again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

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
    source: str | None, target: str | None, verb: str, *, watch: bool, every: float, dry_run: bool, form: answers.Form
) -> None:
    file = os.path.join(config.home_directory(os.environ), f"quarantine-{time.strftime('%Y%m%d-%H%M%S')}.jsonl")

    def once() -> Summary:
        with Phases() as phases:
            return migrate(source, target, merge=True, dry_run=dry_run, quarantine=file, tick=phases.tick)

    if not watch:
        give(once(), form, verb.lower(), verb)
        return
    _watch(once, every, verb, form)


def _watch(once: Callable[[], Summary], every: float, verb: str, form: answers.Form) -> None:
    """Tell what is new, and nothing while there is nothing."""
    told: set[str] = set()
    while True:
        try:
            done = once()
        except Unavailable as exc:
            output.complain(f"{exc}; trying again in {every:g} s")
        else:
            _tell(done, told, verb, form)
        time.sleep(every)


def _tell(done: Summary, told: set[str], verb: str, form: answers.Form) -> None:
    if done.sessions or done.updated:
        if form:
            answers.give("jsonl", verb.lower(), {"sessions": done.sessions, "messages": done.messages})
        else:
            output.say(sentence(done, verb))
        # Whoever follows through a pipe wants to see it now.
        sys.stdout.flush()
    for name, why in done.conflicts.items():
        if name not in told:
            told.add(name)
            output.complain(f"{name}: {why}")
