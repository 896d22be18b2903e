"""`sessiondb pin`"""

from __future__ import annotations

from collections.abc import Sequence

from ..db import SessionDB
from . import answers, options
from .marking import mark


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
    mark(
        db,
        sessions,
        form,
        name="pin",
        change=lambda session_id: db.pin_session(session_id, not undo),
        now=("pinned", not undo),
        said="no longer pinned" if undo else "pinned, and never pruned",
    )
