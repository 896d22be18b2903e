"""`sessiondb rename`"""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..db import SessionDB
from ..errors import NotFound
from . import options, output


@click.command("rename")
@options.session
@click.argument("words", nargs=-1, required=True, metavar="TITLE...")
@options.as_json
@options.writing
def command(db: SessionDB, session: str, words: Sequence[str], as_json: bool) -> None:
    """Give a SESSION a TITLE.

    Several words need no quotes; an empty title ("") takes the title away.

    \b
    Example:
        sessiondb rename 20250305_0915 debugging auth flow
    """
    found = options.find_session(db, session)
    if not db.set_session_title(found, " ".join(words)):
        raise NotFound(f"session {found!r} was deleted meanwhile")
    title = db.get_session_title(found)
    if as_json:
        output.say_json({"id": found, "title": title})
    else:
        output.say(f"{output.line(found)} is now {title!r}." if title else f"{output.line(found)} has no title now.")
