"""`sessiondb import --watch`: one line for whatever comes in, until it is stopped."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .. import config
from ..errors import NotFound
from . import answers, options, output
from .store import open_store

if TYPE_CHECKING:
    from ..db import SessionDB
    from ..importers.base import Parser
    from ..importers.known import Found
    from ..importers.report import Report
    from ..importers.watching import Changes, Notes, Watch


def follow(parsers: list[Parser], paths: Sequence[Path], home: Path, since: float | None, form: answers.Form) -> None:
    """Import, then go on; Ctrl-C and SIGTERM end it, and what was told is in."""
    from ..importers import known, watching

    look, places = _sources(parsers, watching.absolute(paths), home)
    told = _Told(form)
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        with open_store(options.state().place, read_only=False, create=True) as db:
            watch = watching.Watch(db, look, places, told, since, known.ends(parsers), _notes(db))
            _go_on(watch, look, places)
    except KeyboardInterrupt:
        told.finish()
    finally:
        signal.signal(signal.SIGTERM, before)


def _notes(db: SessionDB) -> Notes | None:
    """What hooks noted belongs into the store of the settings, not into one named for a single command."""
    from ..hooks import spool
    from ..importers.watching import Notes

    named = options.state().place
    if named is not None:
        return None
    home = config.load(named).home

    def drain() -> Report | None:
        return spool.drain(db, home, os.environ)

    return Notes(spool.place(home), drain)


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _sources(
    parsers: list[Parser], paths: Sequence[Path], home: Path
) -> tuple[Callable[[], Iterable[Found]], Callable[[], list[Path]]]:
    from ..importers import known

    if paths:
        if missing := [path for path in paths if not path.exists()]:
            raise NotFound(f"no file or directory {os.fspath(missing[0])!r}")
        return (lambda: _known(known.at_paths([path for path in paths if path.exists()], parsers))), lambda: [*paths]
    roots = list(dict.fromkeys(root for each in parsers for root in each.roots(os.environ, home)))
    return (lambda: known.at_home(parsers, os.environ, home)), lambda: roots


def _known(sources: Iterable[Found]) -> Iterable[Found]:
    """A file that is just being begun is of no known format yet."""
    return (source for source in sources if source.parser is not None)


def _go_on(watch: Watch, look: Callable[[], Iterable[Found]], places: Callable[[], list[Path]]) -> None:
    from ..importers.watching import notified, polled

    changes: Changes
    notes = None if watch.notes is None else watch.notes.path
    try:
        import watchfiles  # noqa: F401

        changes = notified(places, notes)
    except ImportError:
        output.complain("looking every second; `pip install 'sessiondb[import]'` makes the system tell what changed")
        changes = polled(look, notes=notes)
    try:
        watch.follow(changes)
    except OSError as exc:
        # Too many directories for the system to watch, or a file system that tells nothing.
        output.complain(f"the system cannot tell what changes ({exc}); looking every second instead")
        watch.follow(polled(look, notes=notes))


class _Told:
    """What came in, as it comes."""

    def __init__(self, form: answers.Form) -> None:
        self.form = form
        self.messages = 0
        self.begun = False
        self.complained: set[tuple[Path, str]] = set()

    def __call__(self, report: Report) -> None:
        stored = report.total("messages")
        self.messages += stored
        for what in [*report.errors, *report.skipped]:
            if (what.path, what.why) not in self.complained:
                self.complained.add((what.path, what.why))
                output.complain(f"{what.path}{'' if what.line is None else f':{what.line}'}: {what.why}")
        if self.form:
            if stored or not self.begun:
                answers.give_lines([report.as_dict()])
        elif not self.begun:
            output.say(
                f"Brought in {output.count(stored, 'message')} in {report.seconds:.1f} s; watching, Ctrl-C ends."
            )
        elif stored:
            agents = sorted({tally.agent for tally in report.tallies.values() if tally.messages})
            output.say(f"{time.strftime('%H:%M:%S')} {', '.join(agents)}: {output.count(stored, 'message')}")
        self.begun = True
        sys.stdout.flush()

    def finish(self) -> None:
        if not self.form:
            output.say(f"Stopped; {output.count(self.messages, 'message')} came in.")
