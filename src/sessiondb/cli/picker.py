"""A numbered list to choose from, for terminals without a full screen."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from ..db import SessionDB
from ..tui import listing
from ..tui.choice import Choice
from ..tui.row import Row, snippet
from ..tui.scope import Scope
from . import ink, output, terminal
from .text import cut, line, pad

SHOWN = 15
_QUESTION = "Number to take up, words to search, Enter for more, q to quit: "
_USUAL = 80


def pick(db: SessionDB, choice: Choice, known: Sequence[Scope]) -> str | None:
    """The id of the session that was chosen; None when nobody wants one, or nobody is there to be asked."""
    rows, at = _listed(db, choice, known), 0
    while True:
        _show(rows, at)
        answer = _answer()
        if answer is None or answer in ("q", "quit"):
            return None
        if answer.isdecimal() and 1 <= int(answer) <= len(rows):
            return rows[int(answer) - 1].id
        if answer.isdecimal():
            output.say(f"This list has {output.count(len(rows), 'session')}.")
        elif answer:
            choice, at = replace(choice, query=answer), 0
            rows = _listed(db, choice, known)
        else:
            at = at + SHOWN if at + SHOWN < len(rows) else 0


def _listed(db: SessionDB, choice: Choice, known: Sequence[Scope]) -> Sequence[Row]:
    loaded = listing.first(db, choice, known)
    for notice in loaded.notices:
        output.complain(notice)
    if loaded.rows:
        output.say(ink.dim(f"{known[loaded.scope].label} · {choice.label()}"))
    elif loaded.did_you_mean:
        output.say(f"Nothing found. Did you mean: {loaded.did_you_mean}")
    else:
        output.say("Nothing found." if choice.searching else "No sessions yet.")
    return loaded.rows


def _show(rows: Sequence[Row], at: int) -> None:
    now, room = time.time(), (terminal.columns() or _USUAL) - 4
    for number, row in enumerate(rows[at : at + SHOWN], at + 1):
        facts = f"  {line(row.source)} · {output.ago(row.when, now)}"
        name = cut(row.name, max(10, room - len(facts)))
        output.say(ink.cyan(f"{number:>3} "), pad(name, 0), ink.dim(facts))
        if row.snippet:
            found = [
                ink.found(text) if style == "found" else ink.dim(text) for text, style in snippet(row.snippet, room)
            ]
            output.say("    ", *found)


def _answer() -> str | None:
    if not terminal.is_terminal(sys.stdin):
        return None
    print(_QUESTION, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    return answer.strip() if answer else None
