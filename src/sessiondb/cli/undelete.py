"""`sessiondb undelete`"""

from __future__ import annotations

from collections.abc import Sequence

from ..db import SessionDB
from ..errors import Invalid
from . import answers, options, output
from .selection import find_all_deleted


@options.command("undelete")
@options.sessions
@options.option("--as", "new_id", metavar="ID", help="Under this id, when the old one is in use again.")
@options.flag("--new-title", help="With the next number after its title, when another session has it now.")
@options.answers
@options.writing
def command(db: SessionDB, sessions: Sequence[str], new_id: str | None, new_title: bool, form: answers.Form) -> None:
    """Bring a deleted SESSION, or several, back from the trash.

    Messages, tags and links come back with it. `sessiondb list --trash` shows what is there; `latest` is what was
    deleted last.

    \b
    Example:
        sessiondb undelete 20250305_091523_a1b2c3d4
        sessiondb undelete latest
    """
    found = find_all_deleted(db, sessions)
    if new_id is not None and len(found) > 1:
        raise Invalid("--as gives one session its id; bring them back one by one")
    back = []
    for row in found:
        restored = db.restore_deleted(row["id"], new_id=new_id, new_title=new_title)
        title = db.get_session_title(restored)
        back.append({"id": restored, "title": title})
        if not form:
            output.say(f"{restored} is back" + (f": {title}." if title else "."))
    if form:
        answers.give(form, "undelete", {**back[0], "sessions": back}, records="sessions")
