"""`sessiondb stats`"""

from __future__ import annotations

import click

from ..db import SessionDB
from . import options, output


@click.command("stats")
@options.as_json
@options.reading
def command(db: SessionDB, as_json: bool) -> None:
    """Count sessions and messages, by source.

    \b
    Example:
        sessiondb stats --json
    """
    stats = db.stats()
    if as_json:
        output.say_json(stats)
        return
    output.say(f"Total sessions: {stats['sessions']}")
    output.say(f"Total messages: {stats['messages']}")
    for source, sessions in stats["sources"].items():
        output.say(f"  {output.line(source)}: {output.count(sessions, 'session')}")
    output.say(f"Database size: {output.size(stats['size_bytes'] or 0)}")
