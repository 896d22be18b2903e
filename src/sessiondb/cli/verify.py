"""`sessiondb verify`"""

from __future__ import annotations

from dataclasses import asdict

import click

from ..db import SessionDB
from ..errors import Corrupt
from ..verify import Report
from . import options, output


@click.command("verify")
@click.argument("session", metavar="[SESSION]", required=False)
@options.as_json
@options.reading
def command(db: SessionDB, session: str | None, as_json: bool) -> None:
    """Check that every message is there as stored.

    All sessions, or one. Exit code 6 tells that something is missing or altered.

    \b
    Example:
        sessiondb verify
    """
    report = db.verify(None if session is None else options.find_session(db, session))
    if as_json:
        output.say_json({"ok": report.ok, **asdict(report)})
    else:
        print_report(report)
    if not report.ok:
        raise Corrupt(f"{output.count(len(report.problems), 'problem')} found; restore these sessions from a backup")


def print_report(report: Report) -> None:
    checked = f"{output.count(report.sessions, 'session')}, {output.count(report.messages, 'message')}"
    output.say(f"{checked}: {'all there' if report.ok else 'not all as stored'}.")
    if report.not_adopted:
        output.say(
            f"{output.count(report.not_adopted, 'message')} of older code not adopted yet; the next write does it."
        )
    for problem in report.problems:
        output.say(f"{output.line(problem.session_id)}: {problem.message}")
