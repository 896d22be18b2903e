"""Histories that are followed while they are written: what changes is imported within moments, until somebody stops it.

With watchfiles the system tells what changed; without it the sources are looked at again and again, the more seldom
the longer a look takes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..db import SessionDB
from .files import Files
from .known import SUFFIXES, Found
from .report import Report
from .runner import Runner
from .stamps import Stamp, stamp

# Changes within this time are one; so often it is looked whether there are any.
GATHER_MS = 600
STEP_MS = 200
# So often a directory is looked for that was not there: an agent that was just installed.
LOOK_MS = 1000
POLL_SECONDS = 1.0
# Looking may take this part of the time at most.
POLL_SHARE = 0.05
_SIDE_FILES = ("-wal", "-journal", "-shm")

Changes = Iterator[set[Path] | None]


class Notes(NamedTuple):
    """Where agents note which conversation went on, and what brings that in."""

    path: Path
    drain: Callable[[], Report | None]


class Watch:
    """Follows the sources that `look` finds below `places`; a place may appear later."""

    def __init__(
        self,
        db: SessionDB,
        look: Callable[[], Iterable[Found]],
        places: Callable[[], list[Path]],
        told: Callable[[Report], None],
        since: float | None = None,
        ends: tuple[str, ...] = SUFFIXES,
        notes: Notes | None = None,
    ) -> None:
        self.db = db
        self.look = look
        self.places = places
        self.told = told
        self.since = since
        self.ends = ends
        self.notes = notes
        self.files = Files(db)
        self.sources: dict[Path, Found] = {}

    def follow(self, changes: Changes) -> None:
        """Import all there is, then what the changes name; None stands for "anything may have changed"."""
        self._bring(self._looked())
        self._read_notes()
        for changed in changes:
            self._read_notes()
            found = self._looked() if changed is None else self._named(changed)
            if found:
                self._bring(found)

    def _read_notes(self) -> None:
        if self.notes is not None and self.notes.path.exists():
            report = self.notes.drain()
            if report is not None:
                self.told(report)

    def _looked(self) -> list[Found]:
        self.sources = {found.path: found for found in self.look()}
        return list(self.sources.values())

    def _named(self, changed: set[Path]) -> list[Found]:
        """The sources among the changed files; a file that is none may be a new one, or belong to one."""
        names = {_of_database(path) for path in changed}
        if any(name not in self.sources and name.name.endswith(self.ends) and name.exists() for name in names):
            return self._looked()
        return [self.sources[name] for name in names if name in self.sources]

    def _bring(self, found: list[Found]) -> None:
        # What was deleted in the meantime is no problem: what it held is in.
        there = [each for each in found if each.path.exists()]
        self.files.look_again()
        runner = Runner(self.db, since=self.since, files=self.files)
        self.told(runner.run(there))


def _of_database(path: Path) -> Path:
    """The file that a side file of SQLite belongs to."""
    tail = next((tail for tail in _SIDE_FILES if path.name.endswith(tail)), "")
    return path.with_name(path.name.removesuffix(tail))


def notified(places: Callable[[], list[Path]], notes: Path | None = None) -> Changes:
    """Changed paths as the system tells them. Raises ImportError without watchfiles, OSError when it cannot watch.

    `notes` is looked for at every turn, which costs less than watching its directory.
    """
    from watchfiles import watch

    while True:
        known = _existing(places())
        directories, recursive = _watchable(known)
        if not directories:
            time.sleep(POLL_SECONDS)
            if notes is not None and notes.exists():
                yield {notes}
            continue
        is_first = True
        for changes in watch(
            *directories,
            watch_filter=None,
            debounce=GATHER_MS,
            step=STEP_MS,
            rust_timeout=LOOK_MS,
            yield_on_timeout=True,
            recursive=recursive,
        ):
            # The first time for what was written before the system began to tell.
            if is_first:
                yield None
            elif changes or (notes is not None and notes.exists()):
                yield {Path(path) for _, path in changes}
            is_first = False
            if _existing(places()) != known:
                break


def _existing(places: list[Path]) -> list[Path]:
    return [place for place in places if place.exists()]


def _watchable(places: list[Path]) -> tuple[list[Path], bool]:
    """What to watch, and whether all below it. A lone file is watched through its directory: it may be replaced."""
    if all(place.is_file() for place in places):
        return sorted({place.parent for place in places}), False
    return places, True


def polled(
    look: Callable[[], Iterable[Found]], wait: Callable[[float], Any] = time.sleep, notes: Path | None = None
) -> Changes:
    """Changed paths, found by looking at every source."""
    known = _stamps(look())
    # What was written since the first import, and is known from now on.
    yield None
    pause = POLL_SECONDS
    while True:
        wait(pause)
        if notes is not None and notes.exists():
            yield {notes}
        begun = time.process_time()
        found = list(look())
        now = _stamps(found)
        pause = max(POLL_SECONDS, (time.process_time() - begun) / POLL_SHARE)
        if changed := {path for path, seen in now.items() if known.get(path) != seen}:
            # A file that was not there is found by looking again.
            yield changed if changed <= known.keys() else None
        known = now


def _stamps(sources: Iterable[Found]) -> dict[Path, Stamp]:
    found = {}
    for source in sources:
        try:
            if source.parser is not None:
                found[source.path] = stamp(source.path, source.parser)
        except OSError:
            # Gone between two looks.
            continue
    return found


def absolute(paths: Iterable[Path]) -> list[Path]:
    """Paths as the system names them in its notices."""
    return [Path(os.path.abspath(path)) for path in paths]
