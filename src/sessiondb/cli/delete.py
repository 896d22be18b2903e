"""`sessiondb delete`"""

from __future__ import annotations

from collections.abc import Sequence

from ..api.trash import TRASH_DAYS
from ..db import SessionDB
from ..errors import NotFound
from . import answers, consent, options, output
from .selection import find_sessions


@options.command("delete")
@options.sessions
@consent.yes
@options.answers
@options.writing
def command(db: SessionDB, sessions: Sequence[str], yes: bool, form: answers.Form) -> None:
    """Move a SESSION, or several, to the trash.

    They can be restored for 30 days with `undelete`. Sessions that continue them, or that they began, stay.

    \b
    Example:
        sessiondb delete 20250305_091523_a1b2c3d4 --yes
        sessiondb delete -1 -2 --yes
    """
    found = find_sessions(db, sessions)
    consent.require(_question(db, found), yes=yes)
    for session_id in found:
        if not db.delete_session(session_id):
            raise NotFound(f"session {session_id!r} was deleted meanwhile")
    if form:
        answers.give(form, "delete", {"sessions": [{"id": name} for name in found]}, records="sessions")
        return
    them = "it" if len(found) == 1 else "they"
    output.say(f"Moved {', '.join(found)} to the trash; {them} can be restored for {TRASH_DAYS} days.")


def _question(db: SessionDB, found: Sequence[str]) -> str:
    rows = [db.get_session(session_id) or {} for session_id in found]
    messages = output.count(sum(row.get("message_count", 0) for row in rows), "message")
    names = [str(row.get("title") or row.get("id")) for row in rows]
    what = names[0] if len(names) == 1 else f"{len(names)} sessions: {', '.join(names)}"
    return f"Delete {what} ({messages})?"
