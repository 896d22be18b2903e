"""`sessiondb prune`"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from .. import config
from ..api.trash import TRASH_DAYS
from ..db import SessionDB
from ..errors import Invalid
from ..models import ListedSession
from ..upkeep import seconds
from . import options, output

DAY = 86_400.0


@click.command("prune")
@click.option("--older-than", default="90d", show_default=True, metavar="DAYS", help="Age of the start: 30 or 30d.")
@options.source
@click.option("--retention", "by_rules", is_flag=True, help="By the rules of sessiondb.retention in config.yaml.")
@click.option("--dry-run", is_flag=True, help="Show what would go; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
@options.writing
def command(
    db: SessionDB, older_than: str, source: str | None, by_rules: bool, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Move ended sessions that started long ago to the trash.

    Sessions that are open or pinned are never touched.

    \b
    Example:
        sessiondb prune --older-than 30 --source telegram --dry-run
    """
    from .. import retention

    rules = _rules() if by_rules else None
    going = _going(db, older_than, source, rules)
    if dry_run:
        _show(going, as_json)
        return
    if going and not yes and not _confirmed(len(going)):
        raise click.exceptions.Exit(1)
    pruned = db.prune_sessions(_days(older_than), source) if rules is None else retention.apply(db, rules)
    if as_json:
        output.say_json({"pruned": pruned})
    else:
        output.say(f"Moved {output.count(pruned, 'session')} to the trash, restorable for {TRASH_DAYS} days.")


def _rules() -> dict[str, str | int | float]:
    rules = dict(config.load().retention)
    if not rules:
        raise Invalid("config.yaml has no rules: add sessiondb.retention, such as {cron: 30d}")
    return rules


def _going(
    db: SessionDB, older_than: str, source: str | None, rules: dict[str, str | int | float] | None
) -> list[ListedSession]:
    from .. import retention

    if rules is None:
        return db.list_prunable(_days(older_than), source)
    return [session for due in retention.due(db, rules) for session in due.sessions]


def _days(age: str) -> float:
    """A plain number is days; else a duration such as 30d or 12h. Raises Invalid."""
    return float(age) if age.replace(".", "", 1).isdigit() else seconds(age) / DAY


def _show(going: Sequence[ListedSession], as_json: bool) -> None:
    if as_json:
        output.say_json(going)
        return
    for session in going:
        name = session["title"] or session["preview"] or "—"
        output.say(f"{output.line(session['id'])}  {output.line(session['source'])}  {output.line(name)}")
    output.say(f"{output.count(len(going), 'session')} would go.")


def _confirmed(number: int) -> bool:
    if not output.is_terminal(sys.stdin):
        raise Invalid("prune asks before it deletes, and there is no terminal to ask on; add --yes")
    return click.confirm(f"Move {output.count(number, 'session')} to the trash?", err=True)
