"""`sessiondb pin`"""

from __future__ import annotations

from collections.abc import Sequence

from ..db import SessionDB
from . import answers, options, output
from .selection import find_sessions


@options.command("pin")
@options.sessions
@options.flag("--undo", help="Let go of it.")
@options.answers
@options.writing
def command(db: SessionDB, sessions: Sequence[str], undo: bool, form: answers.Form) -> None:
    """Keep a SESSION, or several, from being pruned.

    \b
    Example:
        sessiondb pin latest
        sessiondb pin "refactoring auth" --undo
    """
    found = find_sessions(db, sessions)
    for session_id in found:
        db.pin_session(session_id, not undo)
    if form:
        answered = [{"id": session_id, "pinned": not undo} for session_id in found]
        answers.give(form, "pin", {"sessions": answered}, records="sessions")
    else:
        output.say(f"{', '.join(found)}: {'no longer pinned' if undo else 'pinned, and never pruned'}.")
