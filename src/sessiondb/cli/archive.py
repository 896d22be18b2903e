"""`sessiondb archive`"""

from __future__ import annotations

from collections.abc import Sequence

from ..db import SessionDB
from . import answers, options
from .marking import mark


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
    mark(
        db,
        sessions,
        form,
        name="archive",
        change=lambda session_id: db.archive_session(session_id, not undo),
        now=("archived", not undo),
        said="in lists again" if undo else "archived; `list --archived` shows it",
    )
