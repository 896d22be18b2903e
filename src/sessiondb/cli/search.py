"""`sessiondb search`"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..db import SessionDB
from ..errors import Invalid
from ..models import Filter, MessageFilter
from ..search.query import parse
from ..values import replace
from . import answers, finding, hits, options, output


@options.command("search")
@options.words("words", many=True, metavar="QUERY...")
@options.selecting
@options.option(
    "--role", "roles", multiple=True, metavar="NAME", help="Only messages of this role, such as user; repeatable."
)
@options.limit(20, "messages")
@options.option(
    "--order",
    choices=("relevance", "newest", "oldest"),
    default="relevance",
    show_default=True,
    help="Which messages come first.",
)
@options.option(
    "-C", "--context", convert=options.whole(0), default=0, metavar="N", help="With N messages before and after."
)
@options.flag("--exact", help="Only messages with all words as typed.")
@options.option(
    "--mode",
    choices=("words", "substring", "fuzzy", "regex"),
    default="words",
    show_default=True,
    help="How to compare: whole words, parts of words, words with slips, patterns.",
)
@options.flag("--explain", help="Tell how the query was understood, and the scores.")
@options.answers
@options.searching
def command(
    db: SessionDB,
    words: Sequence[str],
    where: Filter,
    roles: Sequence[str],
    limit: int,
    order: str,
    context: int,
    exact: bool,
    mode: str,
    explain: bool,
    form: answers.Form,
) -> None:
    """Find messages by their words, or by a plain question.

    Messages that hold all words come first, then those that hold most, marked ≈. Also "phrases", OR, NOT, prefix* and
    filters such as source:cli or since:7d. Paths, URLs and commands are found as typed; write -- before a query with
    words that begin with a dash.

    \b
    Example:
        sessiondb search nginx 502
        sessiondb search when did we move staging to port 8443
        sessiondb search '"out of memory" OR oom' --since 7d -C 1
        sessiondb search --exact -- rm -rf
    """
    query = " ".join(words)
    problem = parse(query).problem if mode == "words" else None
    if problem:
        raise Invalid(problem)
    # Of a session that went on for weeks only what was said then is wanted.
    messages = MessageFilter(tuple(roles), where.active_since, where.active_until)
    where = replace(where, active_since=None, active_until=None)
    wanted = finding.Wanted(query, where, messages, limit, order, mode, exact)
    found = finding.find(db, wanted)
    if form:
        answers.give(form, "search", _document(db, found, context, explain), records="hits")
        return
    for notice in found.notices:
        output.complain(notice)
    if explain:
        hits.show_explanation(found.explanation())
    if found.hits:
        hits.show(db, found.hits, time.time(), context=context, scores=explain)
    else:
        hits.show_nothing(query, found.did_you_mean)


def _document(db: SessionDB, found: finding.Found, context: int, explain: bool) -> dict[str, Any]:
    listed: list[Mapping[str, Any]] = [hits.record(db, hit, context) for hit in found.hits]
    facts = {
        "query": found.query,
        "total": found.total,
        "index_lag": found.index_lag,
        "notices": list(found.notices),
        "did_you_mean": None if listed else found.did_you_mean,
    }
    return {**facts, **({"explanation": found.explanation()} if explain else {}), "hits": listed}
