"""Credentials taken out of what is stored: messages, tool calls, titles, prompts, the trash.

Each session is looked at without a transaction; what must change is changed in short ones, through primitives that
keep terms and ledgers right. Broken off, it has done a part, and a second run does the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import jsontext, titles
from .clean_rows import changes
from .db import SessionDB
from .errors import TitleTaken
from .models import MAX_TITLE_LENGTH, Filter, Page, SessionRow

_MARKS = re.compile(r"\[redacted: ([a-z0-9 ]+)\]")
_PAGE, _MESSAGES = 200, 200


@dataclass(slots=True)
class Scrubbed:
    """What was found: how many of each kind, and in how many places."""

    kinds: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    messages: int = 0
    facts: int = 0
    trash: int = 0

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


def scrub(db: SessionDB, *, dry_run: bool = False, tick: Callable[[], None] | None = None) -> Scrubbed:
    """Replace every credential in the store by its name; with `dry_run` only tell what there is."""
    report = Scrubbed()
    for session_id in _ids(db):
        _scrub_session(db, session_id, report, dry_run)
        if tick is not None:
            tick()
    _scrub_trash(db, report, dry_run)
    return report


def _counting(kinds: Counter[str]) -> Callable[[str, Mapping[str, Any]], dict[str, Any]]:
    """`changes` that keeps count. Tool calls repeat what messages say: they are not counted again."""

    def change(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
        found = changes(table, row)
        if table != "tool_calls":
            _count(kinds, row, found)
        return found

    return change


def _count(kinds: Counter[str], row: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    for name, value in found.items():
        kinds.update(_MARKS.findall(value))
        kinds.subtract(_MARKS.findall(row[name] if isinstance(row[name], str) else jsontext.dumps(row[name])))


def _ids(db: SessionDB) -> list[str]:
    """The last active comes last, so that nobody's work is looked at in the middle of it for long."""
    ids: list[str] = []
    while page := db.provider.list_sessions(Filter(), Page(_PAGE, len(ids)), "started"):
        ids.extend(row["id"] for row in page)
    return ids[::-1]


def _scrub_session(db: SessionDB, session_id: str, report: Scrubbed, dry_run: bool) -> None:
    session = db.provider.get_session(session_id)
    if session is None:
        return
    before = report.messages, report.facts
    if not dry_run:
        # Rows of older code get their positions.
        db.provider.revise(session_id, (), _unchanged)
    _scrub_messages(db, session_id, report, dry_run)
    _scrub_facts(db, session, report, dry_run)
    report.sessions += (report.messages, report.facts) != before


def _scrub_trash(db: SessionDB, report: Scrubbed, dry_run: bool) -> None:
    change = _counting(report.kinds)
    if not dry_run:
        report.trash = db.provider.revise_trash(change)
        return
    found: set[str] = set()

    def look(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
        if change(table, row):
            found.add(row["id"] if table == "sessions" else row["session_id"])
        return {}

    db.provider.revise_trash(look)
    report.trash = len(found)


def _unchanged(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {}


def _scrub_messages(db: SessionDB, session_id: str, report: Scrubbed, dry_run: bool) -> None:
    change = _counting(report.kinds)
    found = []
    for row in db.provider.stored_messages(session_id):
        if change("messages", row):
            found.append(row["seq"])
    media = sum(bool(change("media_refs", dict(each))) for each in db.provider.get_media_refs(session_id))
    report.messages += len(found)
    report.facts += media
    if dry_run:
        return
    if media:
        db.provider.revise(session_id, (), changes)
    for start in range(0, len(found), _MESSAGES):
        db.provider.revise(session_id, found[start : start + _MESSAGES], changes)


def _scrub_facts(db: SessionDB, session: SessionRow, report: Scrubbed, dry_run: bool) -> None:
    found = _counting(report.kinds)("sessions", session)
    report.facts += len(found)
    if dry_run or not found:
        return
    title = found.pop("title", None)
    if title is not None:
        _rename(db, session, title)
    if found:
        db.provider.update_session(session["id"], found)


def _rename(db: SessionDB, session: SessionRow, title: str) -> None:
    """Titles are unique and short; two that held different secrets may be the same without them."""
    short = titles.clean(title[:MAX_TITLE_LENGTH])
    try:
        db.provider.set_title(session["id"], short, session["title_source"])
    except TitleTaken:
        db.provider.set_title(session["id"], db.get_next_title_in_lineage(short or ""), session["title_source"])
