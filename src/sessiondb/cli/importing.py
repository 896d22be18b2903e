"""`sessiondb import`"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ImportProblem, Invalid, NotFound
from . import answers, dates, ink, options, output, watching
from .progress import Progress
from .store import open_store
from .table import Column, show
from .text import line

if TYPE_CHECKING:
    from ..db import SessionDB
    from ..importers.base import Skipped
    from ..importers.known import Found
    from ..importers.report import Report
    from ..importers.runner import Tick

# More are no help to anybody.
_PLACES_TOLD = 6
_MEGA = 1_000_000
_COUNTS = ("sessions", "new", "updated", "skipped", "errors")
_STATUS = ("on_disk", "imported", "changed", "failed")


@options.command("import")
@options.words("paths", metavar="[PATH]...", many=True, required=False)
@options.option("--agent", "agents", multiple=True, metavar="NAME", help="Only this agent or format; repeatable.")
@options.option(
    "--since", convert=dates.since, metavar="WHEN", help="Only files changed since then: 2025-03-05, 12h, 7d."
)
@options.flag("--dry-run", help="Say what would come in; change nothing.")
@options.flag("--status", help="Say what is on disk and what of it was imported; change nothing.")
@options.flag("--watch", help="Go on: bring in what is written from now on, until Ctrl-C.")
@options.answers
@options.common
def command(
    paths: Sequence[str],
    agents: Sequence[str],
    since: float | None,
    dry_run: bool,
    status: bool,
    watch: bool,
    form: answers.Form,
) -> None:
    """Bring in the histories of other agents.

    Without a PATH the default places of every known agent are looked through; a PATH is a file or a directory, and
    its format is found out. What was imported before is passed by, and a conversation that has grown goes on where it
    ended. The agents' files are never changed.

    \b
    Example:
        sessiondb import
        sessiondb import --agent claude-code --since 7d --dry-run
        sessiondb import old-laptop/.codex backup.jsonl
    """
    from ..importers import known

    parsers = known.chosen(agents)
    home = Path(os.path.expanduser("~"))
    if watch:
        if dry_run or status:
            raise Invalid("--watch brings histories in; --dry-run and --status do not go with it")
        watching.follow(parsers, [Path(path) for path in paths], home, since, form)
        return
    found = known.at_paths(map(Path, paths), parsers) if paths else known.at_home(parsers, os.environ, home)
    sources = list(found)
    if not sources:
        raise NotFound(_nowhere(paths, agents, home))
    with _opened(read_only=dry_run or status) as db:
        if status:
            _tell_status(db, sources, form)
            return
        report = _run(db, sources, since, dry_run)
    _tell(report, form, dry_run)
    if report.total("errors"):
        raise ImportProblem(f"{output.count(report.total('errors'), 'file')} could not be read; the rest is in")


def _opened(*, read_only: bool) -> SessionDB:
    place = options.state().place
    try:
        return open_store(place, read_only=read_only, create=not read_only)
    except NotFound:
        # Nothing is there yet: everything would be new.
        return open_store("memory://", read_only=False)


def _nowhere(paths: Sequence[str], agents: Sequence[str], home: Path) -> str:
    from ..importers import known

    if paths:
        return f"no history of a known format in {', '.join(paths)}; known: {', '.join(known.names())}"
    at_home = {each.NAME: list(each.roots(os.environ, home)) for each in known.chosen(agents)}
    looked = [_tilde(str(place)) for places in at_home.values() for place in places]
    if not looked:
        return f"{', '.join(at_home)}: no place of its own to look in; name a file or a directory"
    if len(looked) > _PLACES_TOLD:
        told = ", ".join(name for name, places in at_home.items() if places)
        return f"no history in the usual places of {told}; name a file or a directory: `sessiondb import ~/Downloads`"
    return f"no history found in {', '.join(looked)}; name a file or a directory"


def _run(db: SessionDB, sources: Sequence[Found], since: float | None, dry_run: bool) -> Report:
    from ..importers.runner import Runner

    with Progress(noun="MB") as progress:

        def tick(told: Tick) -> None:
            progress.reached(told.bytes // _MEGA, max(told.all_bytes // _MEGA, 1))

        runner = Runner(db, dry_run=dry_run, since=since, tick=tick)
        try:
            return runner.run(sources)
        except KeyboardInterrupt:
            progress.finish()
            stored = output.count(runner.report.total("messages"), "message")
            output.complain(f"broken off after {stored}; the same command goes on from there")
            raise


def _tell(report: Report, form: answers.Form, dry_run: bool) -> None:
    if form:
        answers.give(form, "import", {"dry_run": dry_run, **report.as_dict()}, records="sources")
        return
    for note in report.notes:
        output.complain(note)
    for what in report.errors:
        output.complain(f"{_place(what)}: {what.why}")
    _tell_skipped(report.skipped, report.unlisted)
    tallies = report.tallies.values()
    rows = [[each.agent, _tilde(each.path), *(f"{getattr(each, name):,}" for name in _COUNTS)] for each in tallies]
    columns = [Column("Agent", style=ink.cyan), Column("Path", share=1, least=12)]
    show([*columns, *(Column(name.capitalize(), right=True) for name in _COUNTS)], rows)
    output.say(_sum(report, dry_run))


def _sum(report: Report, dry_run: bool) -> str:
    files, same = report.total("files"), report.total("unchanged")
    told = f"{output.count(report.total('messages'), 'message')} from {output.count(files - same, 'file')}"
    if dry_run:
        return f"Would read {told}; nothing was changed."
    passed = f"; {output.count(same, 'file')} unchanged" if same else ""
    return f"Brought in {told} in {report.seconds:.1f} s{passed}."


def _tell_skipped(skipped: Sequence[Skipped], unlisted: int) -> None:
    """Each with its file and line; neighbours with the same reason together."""
    last: tuple[Path, str] | None = None
    lines: list[int | None] = []
    for what in skipped:
        if last is not None and (what.path, what.why) != last:
            _complain_lines(last, lines)
            lines = []
        last = (what.path, what.why)
        lines.append(what.line)
    if last is not None:
        _complain_lines(last, lines)
    if unlisted:
        output.complain(f"and {unlisted:,} more")


def _complain_lines(what: tuple[Path, str], lines: Sequence[int | None]) -> None:
    numbers = ",".join(str(number) for number in lines if number is not None)
    output.complain(f"skipped {_tilde(str(what[0]))}{':' + numbers if numbers else ''}: {what[1]}")


def _place(what: Skipped) -> str:
    return f"{_tilde(str(what.path))}:{what.line}" if what.line is not None else _tilde(str(what.path))


def _tilde(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def _tell_status(db: SessionDB, sources: Sequence[Found], form: answers.Form) -> None:
    from ..importers.status import status

    rows = status(db, sources)
    if form:
        answers.give(form, "import-status", {"sources": [row.as_dict() for row in rows]}, records="sources")
        return
    cells = [[row.agent, _tilde(row.path), *(f"{getattr(row, name):,}" for name in _STATUS)] for row in rows]
    columns = [Column("Agent", style=ink.cyan), Column("Path", share=1, least=12)]
    show([*columns, *(Column(name.replace("_", " ").capitalize(), right=True) for name in _STATUS)], cells)
    for row in rows:
        for path, why in row.failures:
            print(f"{line(_tilde(path))}: {line(why)}", file=sys.stderr)
