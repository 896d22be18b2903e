"""What `archive` and `pin` share: something is true of sessions, or no longer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..db import SessionDB
from . import answers, output
from .selection import find_sessions


def mark(
    db: SessionDB,
    sessions: Sequence[str],
    form: answers.Form,
    *,
    name: str,
    change: Callable[[str], object],
    now: tuple[str, bool],
    said: str,
) -> None:
    """Change all or none of the sessions that are meant, and tell it; `now` is a key of the answer and its value."""
    found = find_sessions(db, sessions)
    for session_id in found:
        change(session_id)
    if form:
        answered = [dict([("id", session_id), now]) for session_id in found]
        answers.give(form, name, {"sessions": answered}, records="sessions")
    else:
        output.say(f"{', '.join(found)}: {said}.")
