"""Brings sources in: what is unchanged is passed by, what has grown is read from where it ended.

Messages are stored before the note how far their file was read: broken off anywhere, an import is taken up again, and
what is read twice is known by its keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..db import SessionDB
from ..errors import ImportProblem, MissingExtra, SessionDBError
from . import order
from .base import Parser, Record, Skipped
from .files import Files, Progress, progress_of
from .intake import Intake
from .known import Found
from .links import Links
from .rehearsal import Rehearsal
from .report import Report, Tally
from .restoring import Restoring
from .source import Source
from .stamps import Stamp, stamp

# So many messages are stored between two notes of how far a file was read, and between two steps of the index.
CHECKPOINT = 2000
INDEX_STEP = 5000


@dataclass(frozen=True, slots=True)
class Tick:
    """How far an import is."""

    bytes: int
    all_bytes: int
    files: int
    all_files: int
    messages: int


class Runner:
    """One import; `run` may be broken off and called again."""

    def __init__(
        self,
        db: SessionDB,
        *,
        dry_run: bool = False,
        since: float | None = None,
        tick: Callable[[Tick], None] = lambda tick: None,
        files: Files | None = None,
    ) -> None:
        self.db = db
        self.dry_run = dry_run
        self.since = since
        self.tick = tick
        self.report = Report()
        self.files = Files(db, dry=dry_run) if files is None else files
        self.links = Links(db)
        self._done_bytes = self._all_bytes = self._done_files = self._all_files = 0
        self._indexed = 0

    def run(self, found: Iterable[Found]) -> Report:
        begun = time.monotonic()
        try:
            waiting = [each for each in map(self._sorted_out, found) if each is not None]
            # What is stored last is listed first.
            waiting.sort(key=lambda each: each[2].mtime)
            self._all_files, self._all_bytes = len(waiting), sum(size.size for _, _, size, _ in waiting)
            for source, parser, size, tally in waiting:
                self._import(source, parser, size, tally)
                self._done_files += 1
                self._done_bytes += size.size
                self._tell(0)
        finally:
            self.files.save()
            self.report.seconds = time.monotonic() - begun
        if not self.dry_run:
            self.links.settle()
            order.settle(self.db, self.report.brought)
            self._index(final=True)
        return self.report

    def _sorted_out(self, found: Found) -> tuple[Found, Parser, Stamp, Tally] | None:
        """What has to be read; the rest is counted here."""
        if found.parser is None:
            self.report.fail(self.report.tally("unknown", found.root), Skipped(found.path, None, "no known format"))
            return None
        tally = self.report.tally(found.parser.NAME, found.root)
        try:
            size = stamp(found.path, found.parser)
        except OSError as exc:
            self.report.fail(tally, Skipped(found.path, None, exc.strerror or str(exc)))
            return None
        tally.files += 1
        if self.files.is_unchanged(found.path, size) or (self.since is not None and size.mtime < self.since):
            tally.unchanged += 1
            row = self.files.known(found.path)
            tally.sessions += 0 if row is None else progress_of(row).count
            return None
        return found, found.parser, size, tally

    def _import(self, found: Found, parser: Parser, size: Stamp, tally: Tally) -> None:
        progress, moved = self.files.before(found.path, parser.NAME)
        source = Source(found.path, offset=progress.offset or 0, line=progress.line, carry=progress.carry)
        reading = Reading(self, found, parser, size, tally, source, progress, moved)
        try:
            reading.read()
        except (ImportProblem, MissingExtra, OSError) as exc:
            self.report.fail(tally, Skipped(found.path, source.line + 1 if source.has_lines else None, _sentence(exc)))
            reading.note(error=_sentence(exc))

    def progressed(self, source: Source) -> None:
        self._tell(source.done - source.offset)
        self._index()

    def _index(self, final: bool = False) -> None:
        """The search index follows as messages come in."""
        stored = self.report.total("messages")
        if not self.dry_run and (stored - self._indexed >= INDEX_STEP or (final and stored > self._indexed)):
            self.db.provider.update_index()
            self._indexed = stored

    def _tell(self, within: int) -> None:
        done = min(self._done_bytes + within, self._all_bytes)
        self.tick(Tick(done, self._all_bytes, self._done_files, self._all_files, self.report.total("messages")))


class Reading:
    """One source on its way in."""

    def __init__(
        self,
        runner: Runner,
        found: Found,
        parser: Parser,
        size: Stamp,
        tally: Tally,
        source: Source,
        progress: Progress,
        moved: str | None,
    ) -> None:
        self.runner = runner
        self.found = found
        self.parser = parser
        self.size = size
        self.tally = tally
        self.source = source
        self.before = progress
        self.moved = moved
        self._skipped = tally.skipped
        self.intake = self._intake()

    def _intake(self) -> Intake | Rehearsal | Restoring:
        kind = Rehearsal if self.runner.dry_run else Restoring if hasattr(self.parser, "RESTORES") else Intake
        made = kind(self.runner.db, self.parser.NAME, self.found.path, self.runner.report, self.tally, self.size.mtime)
        made.restore(self.before.sessions)
        return made

    def read(self) -> None:
        self.source.on_line = self._at_line
        self.intake.consume(guarded(self.parser, self.source))
        self._link()
        self.tally.sessions += max(len(self.intake.seen), self.before.count)
        self.note()

    def _at_line(self, source: Source) -> None:
        if self.intake.unsaved + self.intake.waiting >= CHECKPOINT:
            self.intake.flush()
            self.intake.unsaved = 0
            self._link()
            self.note(is_broken_off=True)
            self.runner.files.save()
            self.runner.progressed(source)

    def _link(self) -> None:
        if self.intake.links:
            self.runner.links.add(self.parser.NAME, self.intake.links)
            self.intake.links.clear()
            self.runner.links.settle()

    def note(self, error: str | None = None, is_broken_off: bool = False) -> None:
        source = self.source
        if error is not None:
            # What was read is stored, but the parser stopped in the middle of it: begin where it last was sure.
            failed = _failed(self.before, error)
            self.runner.files.note(self.found.path, self.parser.NAME, self.size, failed, self.moved)
            return
        progress = Progress(
            offset=source.done if source.has_lines else None,
            line=source.line,
            carry=source.carry,
            sessions=self.intake.state(),
            count=max(len(self.intake.seen), self.before.count),
            skipped=self.tally.skipped - self._skipped,
            is_broken_off=is_broken_off,
        )
        self.runner.files.note(self.found.path, self.parser.NAME, self.size, progress, self.moved)


def _failed(before: Progress, error: str) -> Progress:
    return Progress(before.offset, before.line, before.carry, before.sessions, before.count, before.skipped, error)


def guarded(parser: Parser, source: Source) -> Iterator[Record]:
    """The records of a source; whatever a parser trips over is a problem of this file, not of the import."""
    try:
        yield from parser.read(source)
    except (SessionDBError, OSError):
        # Those of the store come through here as well: the parser's next line is where messages are stored.
        raise
    except (MemoryError, RecursionError) as exc:
        raise ImportProblem(f"too large or nested too deeply for this machine: {type(exc).__name__}") from exc
    except Exception as exc:  # one bad file never stops the rest, and it is reported
        raise ImportProblem(f"the {parser.NAME} parser failed: {type(exc).__name__}: {exc}") from exc


def _sentence(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
