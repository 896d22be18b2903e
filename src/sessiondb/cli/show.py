"""`sessiondb show`"""

from __future__ import annotations

import sys

from ..db import SessionDB
from ..errors import Invalid, NotFound
from ..models import MessageRow, SessionRow
from ..recap import recap
from . import answers, conversation, ink, options, output, records, terminal
from .selection import find_session
from .text import line, wrapped


@options.command("show")
@options.maybe_session
@options.flag("--full", help="Every message, whole.")
@options.option("--last", convert=options.whole(1), metavar="N", help="The last N messages, whole.")
@options.flag("--tools", help="Tool calls with their arguments and results too.")
@options.flag("--reasoning", help="What the model thought, too.")
@options.option(
    "--around", convert=options.whole(1), metavar="MSG", help="The message of this number, and its neighbours."
)
@options.option(
    "-C", "--context", convert=options.whole(0), default=5, show_default=True, metavar="N", help="So many neighbours."
)
@options.flag("--tip", help="Where a compressed conversation went on, not where it began.")
@options.answers
@options.reading
def command(
    db: SessionDB,
    session: str | None,
    full: bool,
    last: int | None,
    tools: bool,
    reasoning: bool,
    around: int | None,
    context: int,
    tip: bool,
    form: answers.Form,
) -> None:
    """Show a SESSION: how it ended, or all of it.

    SESSION is an id, the beginning of an id, a title, `latest`, or -1, -2 and so on, counted from the last active;
    with --around it may be left out. Without other options the last exchanges are shown, shortened.

    \b
    Example:
        sessiondb show latest
        sessiondb show refactoring auth --full --tools
        sessiondb show -1 --last 10
    """
    row = _chosen(db, session, around, tip)
    whole = full or last is not None or around is not None or tools or reasoning
    messages = _messages(db, row, around, context, last)
    if form:
        found = [records.message(message) for message in messages]
        answers.give(form, "show", {"session": records.session(row), "messages": found}, records="messages")
        return
    _head(row)
    if whole:
        _earlier(row["message_count"] - len(messages) if around is None else 0)
        conversation.show(messages, tools=tools, reasoning=reasoning, focus=around)
    else:
        _recap(messages)


def _chosen(db: SessionDB, session: str | None, around: int | None, tip: bool) -> SessionRow:
    if session is None and around is None:
        raise Invalid("which session? Name one, or a message with --around; `sessiondb show latest` shows the last")
    if session is None:
        message = db.provider.get_message(around or 0)
        if message is None:
            raise NotFound(f"no message {around}; `sessiondb search` tells the numbers of messages")
        found = message["session_id"]
    else:
        found = find_session(db, session)
    row = db.get_session(db.get_compression_tip(found) if tip else found)
    if row is None:
        raise NotFound(f"session {found!r} was deleted meanwhile")
    return row


def _messages(db: SessionDB, row: SessionRow, around: int | None, context: int, last: int | None) -> list[MessageRow]:
    if around is not None:
        return db.get_messages_around(row["id"], around, window=context)
    return db.get_messages(row["id"], limit=last, newest=last is not None)


def _head(row: SessionRow) -> None:
    facts = [
        row["id"] if row["title"] else None,
        row["source"],
        row["model"],
        output.moment(row["started_at"]),
        output.count(row["message_count"], "message"),
        row["cwd"],
        f"continues {row['parent_session_id']}" if row["relation"] == "compression" else None,
        f"ended: {row['end_reason']}" if row["end_reason"] else None,
        "archived" if row["archived_at"] else None,
        "pinned" if row["pinned_at"] else None,
    ]
    output.say(ink.bold(row["title"] or row["id"]))
    for each in wrapped(line(" · ".join(str(fact) for fact in facts if fact)), terminal.columns() or sys.maxsize):
        output.say(ink.dim(each))
    output.say()


def _earlier(number: int) -> None:
    if number > 0:
        output.say(ink.dim(f"... {output.count(number, 'earlier message')} ..."))
        output.say()


def _recap(messages: list[MessageRow]) -> None:
    made = recap(messages)
    _earlier(made.earlier)
    for number, entry in enumerate(made.entries):
        if number:
            output.say()
        output.say(conversation.mark(entry.role), " ", ink.bold(entry.role))
        for codes, text in (("", entry.text), ("2", entry.tools)):
            if text:
                conversation.say_indented(text, codes)
    if not made.entries:
        output.say(ink.dim("Nothing was said."))
