"""`sessiondb stats`"""

from __future__ import annotations

from ..db import SessionDB
from . import answers, ink, options, output


@options.command("stats")
@options.answers
@options.reading
def command(db: SessionDB, form: answers.Form) -> None:
    """Count sessions and messages, by source.

    \b
    Example:
        sessiondb stats
        sessiondb stats --json
    """
    stats = db.stats()
    if form:
        answers.give(form, "stats", stats)
        return
    output.say(f"Total sessions: {stats['sessions']}")
    output.say(f"Total messages: {stats['messages']}")
    for source, sessions in stats["sources"].items():
        output.say(f"  {source}: {output.count(sessions, 'session')}")
    index = stats.get("index_bytes")
    whole = stats["size_bytes"] or 0
    shares = "" if index is None else f" (messages {output.size(whole - index)}, search index {output.size(index)})"
    output.say(f"Database size: {output.size(whole)}", ink.dim(shares))
    large = stats.get("large_texts")
    if large and large["references"]:
        saved = output.size(large["text_bytes"] - large["bytes"])
        kept = f"{output.count(large['texts'], 'large text')} kept for {output.count(large['references'], 'place')}"
        output.say(ink.dim(f"{kept}: {saved} saved"))
