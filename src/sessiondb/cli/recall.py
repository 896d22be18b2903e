"""`sessiondb recall`"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import answers, ink, options, output
from .text import line

if TYPE_CHECKING:
    from ..db import SessionDB
    from ..models import Filter
    from ..search.extracts import Extract, Extracts


@options.command("recall")
@options.selecting
@options.flag("--decisions", help="What was decided.")
@options.flag("--todo", help="What is open.")
@options.flag("--commands", help="Commands that were run or given.")
@options.flag("--paths", help="Files and directories.")
@options.flag("--urls", help="Addresses.")
@options.limit(40, "things")
@options.answers
@options.reading
def command(
    db: SessionDB,
    where: Filter,
    decisions: bool,
    todo: bool,
    commands: bool,
    paths: bool,
    urls: bool,
    limit: int,
    form: answers.Form,
) -> None:
    """Show what was decided and what is open, by session.

    Told by words such as "we decided" and "still to do", in English, Indonesian and Chinese; no model is asked.
    Without a choice: decisions and open items.

    \b
    Example:
        sessiondb recall --decisions --todo --since 7d
        sessiondb recall --commands --cwd .
    """
    from ..models import MessageFilter
    from ..search.extracts import extracts

    chosen = {"decision": decisions, "todo": todo, "command": commands, "path": paths, "url": urls}
    kinds = [kind for kind, wanted in chosen.items() if wanted] or ["decision", "todo"]
    messages = MessageFilter(since=where.active_since, until=where.active_until)
    found = extracts(db, kinds, where=where, messages=messages, limit=limit)
    if form:
        answers.give(form, "recall", {"items": found.items, "notices": found.notices}, records="items")
        return
    _show(found, limit)


def _show(found: Extracts, limit: int) -> None:
    for notice in found.notices:
        output.complain(notice)
    if not found.items:
        output.say("Nothing of that kind.")
    by_session: dict[str, list[Extract]] = {}
    for item in found.items:
        by_session.setdefault(item["session_id"], []).append(item)
    now = time.time()
    for number, items in enumerate(by_session.values()):
        if number:
            output.say()
        _show_session(items, now)
    if found.next_before is not None and not found.notices:
        output.say(ink.dim(f"There may be more: --limit {limit * 2}."))


def _show_session(items: Sequence[Extract], now: float) -> None:
    first = items[0]
    output.say(
        ink.bold(line(first["title"] or first["session_id"])),
        ink.dim(f" · {line(first['session_id'])} · {line(first['source'])} · {output.ago(first['timestamp'], now)}"),
    )
    for item in items:
        output.say(f"  {item['kind']:9} ", line(item["text"]), ink.dim(f"  #{item['message_id']}"))
