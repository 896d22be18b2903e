"""`sessiondb verify`"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import click

from ..errors import Corrupt
from ..upkeep import of
from ..verify import Report, verify_export
from . import options, output
from .upkeep import Progress

_SQLITE = b"SQLite format 3\0"


@click.command("verify")
@click.argument("target", metavar="[SESSION|FILE]", required=False)
@options.as_json
@options.place
@options.debug
@click.pass_obj
def command(state: options.State, target: str | None, as_json: bool) -> None:
    """Check that every message is there as stored.

    All sessions of the store, one SESSION, or a FILE: a backup, which is left untouched, or an export. Exit code 6
    tells that something is missing or altered; session and position are named.

    \b
    Example:
        sessiondb verify
        sessiondb verify state.db.20250305-091523.bak
    """
    report = _of_file(target) if target and os.path.isfile(target) else _of_store(state.place, target)
    if as_json:
        output.say_json({"ok": report.ok, **asdict(report)})
    else:
        print_report(report)
    if not report.ok:
        raise Corrupt(f"{output.count(len(report.problems), 'problem')} found; restore these sessions from a backup")


def _of_store(place: str | None, session: str | None) -> Report:
    with options.open_store(place, read_only=True) as db:
        chosen = None if session is None else options.find_session(db, session)
        progress = Progress(db.stats()["messages"] if session is None else None)
        try:
            return db.verify(chosen, tick=progress)
        finally:
            progress.finish()


def _of_file(path: str) -> Report:
    progress = Progress()
    try:
        # Nothing else in this process has the file open: reading its beginning by hand is safe.
        with open(path, "rb") as file:
            is_database = file.read(len(_SQLITE)) == _SQLITE
        if is_database:
            report: Report = of("sqlite").verify(path, progress)
            return report
        return verify_export(_documents(path), progress)
    finally:
        progress.finish()


def _documents(path: str) -> Iterator[Mapping[str, Any] | Exception]:
    """One session per line; a line that is none stands as the error that says why."""
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                document = json.loads(line)
                yield document if isinstance(document, dict) else ValueError(f"line {number} is no session")
            except ValueError as exc:
                yield ValueError(f"line {number} is no JSON: {exc}")


def print_report(report: Report) -> None:
    checked = f"{output.count(report.sessions, 'session')}, {output.count(report.messages, 'message')}"
    output.say(f"{checked}: {'all there' if report.ok else 'not all as stored'}.")
    if report.not_adopted:
        output.say(
            f"{output.count(report.not_adopted, 'message')} of older code not adopted yet; the next write does it."
        )
    for problem in report.problems:
        output.say(f"{output.line(problem.session_id)}: {problem.message}")
