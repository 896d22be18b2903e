"""`sessiondb undelete`"""

from __future__ import annotations

from ..db import SessionDB
from . import answers, options, output
from .selection import find_deleted


@options.command("undelete")
@options.session
@options.option("--as", "new_id", metavar="ID", help="Under this id, when the old one is in use again.")
@options.flag("--new-title", help="With the next number after its title, when another session has it now.")
@options.answers
@options.writing
def command(db: SessionDB, session: str, new_id: str | None, new_title: bool, form: answers.Form) -> None:
    """Bring a deleted SESSION back from the trash.

    Its messages, tags and links come back with it. `sessiondb list --trash` shows what is there; `latest` is what
    was deleted last.

    \b
    Example:
        sessiondb undelete 20250305_091523_a1b2c3d4
        sessiondb undelete latest
    """
    row = find_deleted(db, session)
    restored = db.restore_deleted(row["id"], new_id=new_id, new_title=new_title)
    title = db.get_session_title(restored)
    if form:
        answers.give(form, "undelete", {"id": restored, "title": title})
    else:
        output.say(f"{restored} is back" + (f": {title}." if title else "."))
