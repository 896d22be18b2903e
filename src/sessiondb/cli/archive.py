"""`sessiondb archive`"""

from __future__ import annotations

from collections.abc import Sequence

from ..db import SessionDB
from . import answers, options, output
from .selection import find_sessions


@options.command("archive")
@options.sessions
@options.flag("--undo", help="Show it in lists again.")
@options.answers
@options.writing
def command(db: SessionDB, sessions: Sequence[str], undo: bool, form: answers.Form) -> None:
    """Hide a SESSION, or several, from lists; search still finds them.

    \b
    Example:
        sessiondb archive latest
        sessiondb archive "refactoring auth" --undo
    """
    found = find_sessions(db, sessions)
    for session_id in found:
        db.archive_session(session_id, not undo)
    if form:
        answered = [{"id": session_id, "archived": not undo} for session_id in found]
        answers.give(form, "archive", {"sessions": answered}, records="sessions")
    else:
        output.say(f"{', '.join(found)}: {'in lists again' if undo else 'archived; `list --archived` shows it'}.")
