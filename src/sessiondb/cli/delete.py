"""`sessiondb delete`"""

from __future__ import annotations

import sys

import click

from ..api.trash import TRASH_DAYS
from ..db import SessionDB
from ..errors import Invalid, NotFound
from ..models import SessionRow
from . import options, output


@click.command("delete")
@options.session
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
@options.writing
def command(db: SessionDB, session: str, yes: bool, as_json: bool) -> None:
    """Move a SESSION to the trash.

    It can be restored for 30 days. Sessions that continue it, or that it began, stay.

    \b
    Example:
        sessiondb delete 20250305_091523_a1b2c3d4 --yes
    """
    found = options.find_session(db, session)
    if not yes and not confirmed(db.get_session(found)):
        raise click.exceptions.Exit(1)
    if not db.delete_session(found):
        raise NotFound(f"session {found!r} was deleted meanwhile")
    if as_json:
        output.say_json({"id": found, "deleted": True})
    else:
        output.say(f"Moved {output.line(found)} to the trash; it can be restored for {TRASH_DAYS} days.")


def confirmed(row: SessionRow | None) -> bool:
    """Ask a person; where there is none, nothing is deleted. Raises Invalid."""
    if not output.is_terminal(sys.stdin):
        raise Invalid("delete asks before it deletes, and there is no terminal to ask on; add --yes")
    name = output.line((row or {}).get("title") or (row or {}).get("id"))
    messages = output.count((row or {}).get("message_count", 0), "message")
    return click.confirm(f"Delete {name} ({messages})?", err=True)
