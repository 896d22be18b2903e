"""`sessiondb show`"""

from __future__ import annotations

from typing import Any

import click

from ..db import SessionDB
from ..models import MessageRow, SessionRow
from ..rows import text_of
from . import options, output


@click.command("show")
@options.session
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N messages.")
@click.option("--tip", is_flag=True, help="Where a compressed conversation went on, not where it began.")
@options.as_json
@options.reading
def command(db: SessionDB, session: str, last: int | None, tip: bool, as_json: bool) -> None:
    """Show the messages of a SESSION.

    SESSION is an id, the beginning of an id, or a title.

    \b
    Example:
        sessiondb show "refactoring auth" --last 10
    """
    found = options.find_session(db, session)
    if tip:
        found = db.get_compression_tip(found)
    row = db.get_session(found)
    messages = db.get_messages(found, limit=last, newest=last is not None)
    if as_json:
        output.say_json({**(row or {}), "messages": messages})
    elif row is not None:
        print_head(row)
        print_messages(messages, row["message_count"] - len(messages))


def print_head(row: SessionRow) -> None:
    facts = [
        row["source"],
        row["model"],
        output.moment(row["started_at"]),
        output.count(row["message_count"], "message"),
        f"continues {row['parent_session_id']}" if row["relation"] == "compression" else None,
        f"ended: {row['end_reason']}" if row["end_reason"] else None,
    ]
    output.say(output.line(row["title"] or row["id"]))
    if row["title"]:
        output.say(output.line(row["id"]))
    output.say(" · ".join(output.line(fact) for fact in facts if fact))


def print_messages(messages: list[MessageRow], earlier: int) -> None:
    output.say()
    if earlier > 0:
        output.say(f"… {output.count(earlier, 'earlier message')} …")
    for message in messages:
        output.say(f"{speaker(message)}: {spoken(message)}")


def speaker(message: MessageRow) -> str:
    return output.line(f"{message['role']} ({message['tool_name']})" if message["tool_name"] else message["role"])


def spoken(message: MessageRow) -> str:
    """The words of a message, and the tools it called."""
    calls = [f"[{name}]" for name in called(message["tool_calls"])]
    return " ".join(filter(None, [text_of(message["content"]), *calls]))


def called(tool_calls: Any) -> list[str]:
    calls = tool_calls if isinstance(tool_calls, list) else [tool_calls] if tool_calls else []
    return [_name(call) for call in calls]


def _name(call: Any) -> str:
    if not isinstance(call, dict):
        return "tool call"
    function = call.get("function")
    return str((function.get("name") if isinstance(function, dict) else None) or call.get("name") or "tool call")
