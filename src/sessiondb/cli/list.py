"""`sessiondb list`"""

from __future__ import annotations

import time
from collections.abc import Sequence

import click

from ..db import SessionDB
from ..models import Filter, ListedSession
from . import options, output

# What tools write for themselves; shown when asked for.
HIDDEN_SOURCES = ("tool",)


@click.command("list")
@options.source
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="At most so many sessions."
)
@click.option("--all", "everything", is_flag=True, help="Archived sessions, sub-agents' and tools' too.")
@options.as_json
@options.reading
def command(db: SessionDB, source: str | None, limit: int, everything: bool, as_json: bool) -> None:
    """Show sessions, the last active first.

    \b
    Example:
        sessiondb list --source telegram --limit 50
    """
    sessions = db.list_sessions_rich(
        source,
        None if source or everything else HIDDEN_SOURCES,
        limit,
        include_children=everything,
        order_by="activity",
        where=Filter(archived=None if everything else False),
    )
    if as_json:
        output.say_json(sessions)
    elif sessions:
        print_table(sessions, time.time())
    else:
        output.say(f"No sessions of source {source!r}." if source else "No sessions yet.")


def print_table(sessions: Sequence[ListedSession], now: float) -> None:
    """With titles where any session has one; else with the sources."""
    rows = [titled(row, now) for row in sessions] if any(row["title"] for row in sessions) else None
    if rows is None:
        header = output.fit("Preview", 50) + output.fit("Last Active", 13) + output.fit("Src", 6) + "ID"
        rows = [untitled(row, now) for row in sessions]
    else:
        header = output.fit("Title", 32) + output.fit("Preview", 40) + output.fit("Last Active", 13) + "ID"
    output.say(header)
    output.say("─" * max(map(output.width, rows)))
    for row in rows:
        output.say(row)


def titled(row: ListedSession, now: float) -> str:
    columns = output.fit(row["title"] or "—", 32) + output.fit(row["preview"], 40)
    return columns + output.fit(output.ago(row["last_active"], now), 13) + output.line(row["id"])


def untitled(row: ListedSession, now: float) -> str:
    columns = output.fit(row["preview"], 50) + output.fit(output.ago(row["last_active"], now), 13)
    return columns + output.fit(row["source"], 6) + output.line(row["id"])
