"""`sessiondb migrate`"""

from __future__ import annotations

import os
import time
from dataclasses import asdict

from .. import config
from ..errors import Conflict, Corrupt, Invalid
from ..migrate import Summary, migrate
from . import answers, ink, options, output
from .progress import Progress

_LISTED = 10


@options.command("migrate")
@options.option("--from", "source", metavar="URL_OR_PATH", help="Where they are; default: the store of --db.")
@options.option("--to", "target", metavar="URL_OR_PATH", help="Where they go; made where there is none.")
@options.flag("--merge", help="Allow a target that has sessions; none of them is changed or lost.")
@options.flag("--dry-run", help="Read everything, say what would happen, write nothing.")
@options.option("--quarantine", metavar="FILE", help="Where rows go that cannot be moved; default: in the home.")
@options.answers
@options.common
def command(
    source: str | None,
    target: str | None,
    merge: bool,
    dry_run: bool,
    quarantine: str | None,
    form: answers.Form,
) -> None:
    """Copy all conversations to another store, and prove it.

    Any kind of store to any other; the source may also be a state.db of Hermes, of any version, and is never changed.
    Everything is read back and compared at the end. Interrupted, run it again: it goes on where it was. Exit code 4
    tells that sessions of the target stood in the way, 6 that rows were left in the quarantine file.

    \b
    Example:
        sessiondb migrate --from home/state.db --to copy.db --dry-run
        sessiondb migrate --from home/state.db --to sqlite:copy.db
    """
    if target is None:
        raise Invalid("say where to: sessiondb migrate --from URL --to URL")
    file = quarantine or _default_file()
    with Phases() as phases:
        done = migrate(
            source or options.state().place, target, merge=merge, dry_run=dry_run, quarantine=file, tick=phases.tick
        )
    give(done, form, "migrate")


def _default_file() -> str:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return os.path.join(config.home_directory(os.environ), f"quarantine-{stamp}.jsonl")


class Phases:
    """A line of progress for each phase of a move."""

    def __init__(self) -> None:
        self._phase = ""
        self._progress: Progress | None = None

    def tick(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase:
            self.finish()
            self._phase, self._progress = phase, Progress(total, _NOUNS[phase])
        assert self._progress is not None
        self._progress.reached(done, total)

    def finish(self) -> None:
        if self._progress is not None:
            self._progress.finish()

    def __enter__(self) -> Phases:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()


_NOUNS = {"messages": "messages", "index": "messages indexed", "verify": "messages verified"}


def give(done: Summary, form: answers.Form, schema: str, verb: str = "Migrated") -> None:
    """Print what a move did; raises when it is not whole."""
    if form:
        answers.give(form, schema, {"ok": done.ok, **asdict(done)})
    else:
        _say(done, verb)
    if done.problems:
        raise Corrupt(
            f"{output.count(len(done.problems), 'session')} not as in the source; keep the source, run it again"
        )
    if done.conflicts:
        raise Conflict(f"{output.count(len(done.conflicts), 'session')} left as they are in the target; see above")
    if done.quarantined:
        kept = f"; they are in {done.quarantine_file}" if done.quarantine_file else ""
        raise Corrupt(f"{output.count(done.quarantined, 'row')} could not be moved{kept}")


def _say(done: Summary, verb: str) -> None:
    output.say(sentence(done, verb))
    _list("", [f"{name}: the title was taken; now {title!r}" for name, title in done.renamed.items()])
    _list("", done.notes)
    _list("not moved: ", [f"{name}: {why}" for name, why in done.conflicts.items()])
    _list("not as in the source: ", done.problems)
    _list("quarantined: ", done.quarantine_reasons)


def sentence(done: Summary, verb: str) -> str:
    if done.dry_run:
        verb = f"Would have {verb.lower()}"
    parts = [
        f"{done.sessions:,} {_plural('session', done.sessions)}",
        f"{done.messages:,} {_plural('message', done.messages)}",
    ]
    if done.index_entries is not None:
        parts.append(f"{done.index_entries:,} index {'entry' if done.index_entries == 1 else 'entries'}")
    beside = [
        f"{number:,} {what}"
        for number, what in ((done.trash, "in the trash"), (done.media_files, _plural("media file", done.media_files)))
        if number
    ]
    there = [
        f"{number:,} {what}"
        for number, what in (
            (done.same, "were there already"),
            (done.ahead, "have more there"),
            (done.updated, "learned more"),
        )
        if number
    ]
    known = f" ({', '.join(there)})" if there else ""
    proof = ", verified" if done.verified else ""
    return f"{verb} {', '.join([*parts, *beside])} in {done.seconds:.1f}s{proof}{known}"


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else noun + "s"


def _list(head: str, lines: list[str]) -> None:
    for line in lines[:_LISTED]:
        output.say(ink.dim("  " + head), line)
    if len(lines) > _LISTED:
        output.say(ink.dim(f"  {head}and {len(lines) - _LISTED:,} more"))
