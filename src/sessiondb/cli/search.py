"""`sessiondb search`"""

from __future__ import annotations

import time
from collections.abc import Sequence

import click

from ..db import SessionDB
from ..errors import Invalid
from ..models import SearchHit
from ..search.query import parse
from . import options, output


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@options.source
@click.option("--role", metavar="NAME", help="Only messages of this role, such as user or assistant.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="At most so many messages."
)
@click.option(
    "--order",
    type=click.Choice(["relevance", "newest", "oldest"]),
    default="relevance",
    show_default=True,
    help="Which messages come first.",
)
@options.as_json
@options.searching
def command(
    db: SessionDB, words: Sequence[str], source: str | None, role: str | None, limit: int, order: str, as_json: bool
) -> None:
    """Find messages that hold all words.

    Also "phrases", OR, NOT, prefix* and filters such as source:cli or since:7d. Paths, URLs and commands are found
    as typed; write -- before a query with words that begin with a dash.

    \b
    Example:
        sessiondb search nginx 502
        sessiondb search '"out of memory" OR oom' --source cli
        sessiondb search -- rm -rf
    """
    query = " ".join(words)
    problem = parse(query).problem
    if problem:
        raise Invalid(problem)
    hits = db.search_messages(
        query,
        source_filter=(source,) if source else None,
        role_filter=(role,) if role else None,
        limit=limit,
        order=order,
    )
    if as_json:
        output.say_json(hits)
    elif hits:
        print_hits(hits, time.time())
    else:
        output.say(f"No message matches {query!r}.")


def print_hits(hits: Sequence[SearchHit], now: float) -> None:
    """Sessions in the order of their best hit, their hits below them."""
    sessions: dict[str, list[SearchHit]] = {}
    for hit in hits:
        sessions.setdefault(hit["session_id"], []).append(hit)
    for number, found in enumerate(sessions.values()):
        if number:
            output.say()
        output.say(heading(found[0], now))
        for hit in found:
            output.say(f"  {hit['role']}: {output.line(hit['snippet'])}")


def heading(hit: SearchHit, now: float) -> str:
    title = f"{output.line(hit['title'])} · " if hit["title"] else ""
    return f"{title}{output.line(hit['session_id'])} · {hit['source']} · {output.ago(hit['timestamp'], now)}"
