"""`sessiondb verify`"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ..errors import Corrupt, MissingExtra
from ..upkeep import of
from ..verify import Report, verify_export
from . import answers, ink, options, output
from .progress import Progress
from .selection import find_session
from .store import open_store

_SQLITE = b"SQLite format 3\0"


@options.command("verify")
@options.maybe_session_or_file
@options.answers
@options.common
def command(target: str | None, form: answers.Form) -> None:
    """Check that every message is there as stored.

    All sessions of the store, one SESSION, or a FILE: a backup, which is left untouched, or an export, compressed or
    not. Exit code 6 tells that something is missing or altered; session and position are named.

    \b
    Example:
        sessiondb verify
        sessiondb verify state.db.20250305-091523.bak
    """
    report = _of_file(target) if target and os.path.isfile(target) else _of_store(options.state().place, target)
    if form:
        answers.give(form, "verify", {"ok": report.ok, **asdict(report)})
    else:
        print_report(report)
    if not report.ok:
        raise Corrupt(f"{output.count(len(report.problems), 'problem')} found; restore these sessions from a backup")


def _of_store(place: str | None, session: str | None) -> Report:
    with open_store(place, read_only=True) as db:
        chosen = None if session is None else find_session(db, session)
        with Progress(db.stats()["messages"] if session is None else None) as progress:
            return db.verify(chosen, tick=progress)


def _of_file(path: str) -> Report:
    # Nothing else in this process has the file open: reading its beginning by hand is safe.
    with open(path, "rb") as file:
        is_database = file.read(len(_SQLITE)) == _SQLITE
    with Progress() as progress:
        if is_database:
            report: Report = of("sqlite").verify(path, progress)
            return report
        return verify_export(_documents(path), progress)


def _documents(path: str) -> Iterator[Mapping[str, Any] | Exception]:
    """One session per line; a line that is none stands as the error that says why."""
    from pathlib import Path

    from ..importers import archives, packed

    number = 0
    try:
        with packed.open_plain(Path(path)) as lines:
            for number, line in enumerate(lines, start=1):
                yield _document(line, number)
    except (MissingExtra, PermissionError):
        raise
    except archives.UNREADABLE as exc:
        yield ValueError(f"what follows line {number} cannot be decompressed: {exc}")


def _document(line: bytes, number: int) -> Mapping[str, Any] | Exception:
    try:
        document = json.loads(line)
    except ValueError as exc:
        return ValueError(f"line {number} is no JSON: {exc}")
    return document if isinstance(document, dict) else ValueError(f"line {number} is no session")


def print_report(report: Report) -> None:
    checked = f"{output.count(report.sessions, 'session')}, {output.count(report.messages, 'message')}"
    output.say(f"{checked}: ", ink.green("all there.") if report.ok else ink.red("not all as stored."))
    if report.not_adopted:
        output.say(
            f"{output.count(report.not_adopted, 'message')} of older code not adopted yet; the next write does it."
        )
    for problem in report.problems:
        output.say(f"{problem.session_id}: {problem.message}")
