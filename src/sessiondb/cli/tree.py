"""`sessiondb tree`"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from ..db import SessionDB
from ..models import SessionRow
from . import answers, ink, options, output, records
from .facts import fitted
from .selection import find_session
from .text import width

_HERE = " ←"


@options.command("tree")
@options.session
@options.answers
@options.reading
def command(db: SessionDB, session: str, form: answers.Form) -> None:
    """Draw the lineage of a SESSION: what it continues, what continues it, forks and sub-agents.

    \b
    Example:
        sessiondb tree latest
    """
    chosen = find_session(db, session)
    family = db.family(chosen)
    if form:
        found = [records.session(row) for row in family]
        answers.give(form, "tree", {"root": family[0]["id"], "sessions": found}, records="sessions")
        return
    now = time.time()
    for branch, row in drawn(family):
        _say(branch, row, now, chosen=row["id"] == chosen)


def drawn(family: Sequence[SessionRow]) -> Iterator[tuple[str, SessionRow]]:
    """Each session with the branch that leads to it, in the order of reading; each once."""
    below: dict[str | None, list[SessionRow]] = {}
    for row in family[1:]:
        below.setdefault(row["parent_session_id"], []).append(row)
    yield "", family[0]
    # Not by recursion: a conversation may have been compressed a thousand times.
    waiting = _branches(below, family[0]["id"], "")
    while waiting:
        branch, trunk, row = waiting.pop()
        yield branch, row
        waiting += _branches(below, row["id"], trunk)


def _branches(below: dict[str | None, list[SessionRow]], parent: str, trunk: str) -> list[tuple[str, str, SessionRow]]:
    """The children, the first last: (how it hangs on, what stands before its own children, row)."""
    children = below.pop(parent, [])
    made = [(f"{trunk}├─ ", f"{trunk}│  ", row) for row in children[:-1]]
    made += [(f"{trunk}└─ ", f"{trunk}   ", row) for row in children[-1:]]
    return made[::-1]


def _say(branch: str, row: SessionRow, now: float, *, chosen: bool) -> None:
    relation = f"{row['relation']}: " if branch else ""
    facts = [
        row["id"] if row["title"] else None,
        output.ago(row["last_active"] or row["started_at"], now),
        output.count(row["message_count"], "message"),
    ]
    name, about = fitted(row["title"] or row["id"], facts, width(branch + relation) + len(_HERE))
    shown = ink.bold(name) if chosen else name
    output.say(ink.dim(branch + relation), shown, ink.dim(about), ink.found(_HERE) if chosen else "")
