"""`sessiondb prune`"""

from __future__ import annotations

import time
from collections.abc import Sequence

from .. import config
from ..api.trash import TRASH_DAYS
from ..db import SessionDB
from ..errors import Invalid
from ..models import Filter, ListedSession
from . import answers, consent, dates, ink, options, output, records, table

Rules = dict[str, str | int | float]


@options.command("prune")
@options.option(
    "--older-than",
    "days",
    convert=dates.days,
    default="90d",
    show_default=True,
    metavar="DAYS",
    help="Started before: 30, 30d.",
)
@options.selecting
@options.flag("--retention", "by_rules", help="By the rules of sessiondb.retention in config.yaml.")
@options.flag("--dry-run", help="Show what would go; change nothing.")
@consent.yes
@options.answers
@options.writing
def command(
    db: SessionDB, days: float, where: Filter, by_rules: bool, dry_run: bool, yes: bool, form: answers.Form
) -> None:
    """Move ended sessions that started long ago to the trash.

    Sessions that are open or pinned are never touched. `undelete` brings back what went.

    \b
    Example:
        sessiondb prune --older-than 30 --source telegram --dry-run
    """
    from .. import retention

    rules = _rules() if by_rules else None
    going = _going(db, days, where, rules)
    if dry_run:
        _show(going, form)
        return
    if going:
        consent.require(f"Move {output.count(len(going), 'session')} to the trash?", yes=yes)
    pruned = db.prune_sessions(days, where=where) if rules is None else retention.apply(db, rules)
    if form:
        answers.give(form, "prune", {"dry_run": False, "pruned": pruned})
    else:
        output.say(f"Moved {output.count(pruned, 'session')} to the trash, restorable for {TRASH_DAYS} days.")


def _rules() -> Rules:
    rules = dict(config.load().retention)
    if not rules:
        raise Invalid("config.yaml has no rules: add sessiondb.retention, such as {cron: 30d}")
    return rules


def _going(db: SessionDB, days: float, where: Filter, rules: Rules | None) -> list[ListedSession]:
    from .. import retention

    if rules is None:
        return db.list_prunable(days, where=where)
    return [session for due in retention.due(db, rules) for session in due.sessions]


def _show(going: Sequence[ListedSession], form: answers.Form) -> None:
    if form:
        found = [records.session(row) for row in going]
        answers.give(form, "prune", {"dry_run": True, "sessions": found}, records="sessions")
        return
    if going:
        _table(going)
    output.say(f"{output.count(len(going), 'session')} would go.")


def _table(going: Sequence[ListedSession]) -> None:
    now = time.time()
    columns = [
        table.Column("ID", style=ink.dim),
        table.Column("Source"),
        table.Column("Started"),
        table.Column("Title or first words", share=1, least=12, most=60),
    ]
    rows = [
        [row["id"], row["source"], output.ago(row["started_at"], now), row["title"] or row["preview"] or "—"]
        for row in going
    ]
    table.show(columns, rows)
