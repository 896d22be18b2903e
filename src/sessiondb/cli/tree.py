"""`sessiondb tree`"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from ..db import SessionDB
from ..models import SessionRow
from . import answers, ink, options, output, records, terminal
from .pager import paging
from .selection import find_session
from .text import cut, line, width

Children = Mapping[str | None, Sequence[SessionRow]]


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
    with paging(not options.state().no_pager):
        for branch, row in _drawn(family):
            _say(branch, row, now, chosen=row["id"] == chosen)


def _drawn(family: Sequence[SessionRow]) -> Iterator[tuple[str, SessionRow]]:
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
    facts = f" · {row['id']}" if row["title"] else ""
    facts += f" · {output.count(row['message_count'], 'message')}"
    facts += f" · {output.ago(row['last_active'] or row['started_at'], now)}"
    name = line(row["title"] or row["id"])
    room = terminal.columns()
    if room is not None:
        name = cut(name, max(16, room - width(branch + relation) - width(line(facts)) - 2))
    output.say(
        ink.dim(branch + relation),
        ink.bold(name) if chosen else name,
        ink.dim(facts),
        ink.found(" ←") if chosen else "",
    )
