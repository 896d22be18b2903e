"""Parts of words and words with slips: the trigrams of the words tell who may match, the text itself who does.

What the index leaves out must not match. A stretch of letters that is in a text is in one of its words; an overlong
word is kept as a digest, so messages with such a word are always looked at. A slip touches at most two neighbouring
letters: of a word with slips, what stands before and after the touched ones is found.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, islice
from typing import Any, NamedTuple

import psycopg

from .... import errors
from ....models import MESSAGE_COLUMNS, Filter, MessageFilter, MessageRow, SessionRow, TextMode
from ....search import analyze, near
from ....search.modes import TimeIsUp
from ....search.nodes import Term
from ....sql import rows
from ....sql.driver import Tx
from ....sql.filters import marks, messages_where, sessions_where
from ..trigrams import CUT, TEXT
from . import tsquery

# Where the newest messages may match, so many are read one by one before the index is asked: what is common is found
# among them.
HEAD = 500
BATCH = 100
LARGEST_BATCH = 1000
SHORTEST = 3
# Milliseconds a statement may be given.
LONGEST = 2**31 - 1
NO_ID = 2**63 - 1
# With fewer trigrams the index has nothing to go by.
FEWEST = 1
# Where the index would name more than this share, reading all is as fast.
TELLING = 0.25
NEWEST = """
    SELECT tsv
      FROM search_tokens
     ORDER BY message_id DESC
     LIMIT 500
"""
COUNTED = """
    SELECT COUNT(*)
      FROM (SELECT 1
              FROM search_tokens
             LIMIT 500) t
"""
_BIGRAMS = 8
# Letters whose folding does not depend on their neighbours; of the last three marks may follow that do.
_STRETCH = re.compile("[a-z0-9]+|[α-ω]+|[а-я]+|[一-鿿]+")

# Alternatives, each of which an index answers; asked as one, the planner would read everything.
Condition = tuple[tuple[str, ...], dict[str, str]]
Rows = Iterator[tuple[MessageRow, SessionRow]]


class Wanted(NamedTuple):
    """Whose texts are wanted, and in which order."""

    where: Filter
    messages: MessageFilter
    oldest: bool
    until: float


def condition(pattern: str, mode: TextMode) -> Condition | None:
    """What the words of a message must fulfil for its text to match; None where the index cannot tell."""
    if mode == "regex":
        return None
    return _substring(pattern) if mode == "substring" else _fuzzy(pattern)


def _substring(pattern: str) -> Condition | None:
    stretches = [found for run in analyze.runs(pattern) for found in _STRETCH.findall(run)]
    certain = [each if each.isascii() or _is_han(each) else each[:-1] for each in stretches]
    letters = max((each for each in certain if not _is_han(each)), key=len, default="")
    if len(letters) >= SHORTEST:
        return (f"{TEXT} LIKE :part", CUT), {"part": f"%{letters}%"}
    han = max(filter(_is_han, certain), key=len, default="")
    pairs = [f"'{pair}'" for pair in analyze.bigrams(han)[:-1]]
    return (("t.tsv @@ CAST(:part AS TSQUERY)",), {"part": " & ".join(pairs[:_BIGRAMS])}) if pairs else None


def _is_han(stretch: str) -> bool:
    return "一" <= stretch[:1] <= "鿿"


def _fuzzy(pattern: str) -> Condition | None:
    words = dict.fromkeys(analyze.tokens(pattern))
    told = [(_strength(word), word) for word in words]
    strength, word = max(told, default=(0, ""))
    if strength < FEWEST:
        return None
    if not near.slips(word):
        return ("t.tsv @@ CAST(:part AS TSQUERY)",), {"part": tsquery.expression(Term(word))}
    params = {f"part{number}": f"%{'%'.join(pieces)}%" for number, pieces in enumerate(damaged(word))}
    return tuple(f"{TEXT} LIKE :{name}" for name in params), params


def _strength(word: str) -> int:
    """How many trigrams the index has to go by, whatever the slips."""
    if not near.slips(word):
        return max(len(word), FEWEST)
    return min(sum(map(_trigrams, pieces)) for pieces in damaged(word))


def damaged(word: str) -> list[tuple[str, ...]]:
    """What is left of the word, in pieces, for each way in which slips can damage it; a quote is its border."""
    whole = f"'{word}'"
    ways = combinations_with_replacement(range(len(whole) - 1), near.slips(word))
    return list(dict.fromkeys(_left(whole, places) for places in ways))


def _left(whole: str, places: Sequence[int]) -> tuple[str, ...]:
    pieces, start = [], 0
    for place in places:
        pieces.append(whole[start : max(start, place)])
        start = place + 2
    return tuple(piece for piece in (*pieces, whole[start:]) if piece)


def _trigrams(piece: str) -> int:
    """Not counting the one that tells the first letter only."""
    return max(0, len(piece) - 2)


# --- rows ---


def candidates(
    read: Callable[[Callable[[Tx], Any]], Any],
    scanned: Callable[[], Rows],
    found: Condition,
    wanted: Wanted,
) -> Rows:
    """Messages that may match, in order: the first ones all, of the others those that the index names."""
    share, last = _in_time(lambda: read(lambda tx: _share(tx, found, wanted))), 0 if wanted.oldest else NO_ID
    if share > TELLING:
        yield from scanned()
        return
    if share:
        seen = 0
        for message, session in islice(scanned(), HEAD):
            yield message, session
            last, seen = message["id"], seen + 1
        if seen < HEAD:
            return
    ids = _in_time(lambda: read(lambda tx: _ids(tx, found, wanted, last)))
    start, size = 0, BATCH
    while some := ids[start : start + size]:
        if time.monotonic() >= wanted.until:
            raise TimeIsUp
        for message in read(lambda tx, some=some: _messages(tx, some, wanted)):  # type: ignore[misc]
            yield message, {}
        # Filters may let few of them through.
        start, size = start + size, min(2 * size, LARGEST_BATCH)


def _in_time(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except errors.Busy as exc:
        if isinstance(exc.__cause__, psycopg.errors.QueryCanceled):
            raise TimeIsUp from exc
        raise


def _limit(tx: Tx, until: float) -> None:
    """Let the statements of a transaction take no longer."""
    left = int(min(LONGEST, max(1.0, 1000 * (until - time.monotonic()))))
    tx.row("SELECT set_config('statement_timeout', :left, TRUE)", {"left": str(left)})


def _share(tx: Tx, found: Condition, wanted: Wanted) -> float:
    """Of the newest messages, how many the index would name; where there are few, all are as soon read."""
    alternatives, params = found
    total = (tx.row(COUNTED) or (0,))[0]
    if total < HEAD:
        return 1.0
    _limit(tx, wanted.until)
    named = tx.row(f"SELECT COUNT(*) FROM ({NEWEST}) t WHERE {' OR '.join(alternatives)}", params)
    return float(named[0] / total) if named else 0.0


def _ids(tx: Tx, found: Condition, wanted: Wanted, last: int) -> list[int]:
    """The messages that the index names, whatever the filters: those are asked of the few that are read."""
    alternatives, params = found
    _limit(tx, wanted.until)
    named = " UNION ".join(
        f"""
        SELECT DISTINCT t.message_id
          FROM search_tokens t
         WHERE {sql}
           AND t.message_id {">" if wanted.oldest else "<"} :last
        """
        for sql in alternatives
    )
    ids = tx.rows(f"{named} ORDER BY message_id {'ASC' if wanted.oldest else 'DESC'}", {**params, "last": last})
    return [each for (each,) in ids]


def _messages(tx: Tx, ids: Sequence[int], wanted: Wanted) -> list[MessageRow]:
    chosen = sessions_where(wanted.where)
    messages_where(chosen, wanted.messages)
    names, params = marks("message", ids)
    found = tx.rows(
        f"""
        SELECT {rows.prefixed(MESSAGE_COLUMNS, "m")}
          FROM messages m
          JOIN sessions s ON s.id = m.session_id
         WHERE m.id IN ({names})
           AND {chosen.sql}
         ORDER BY m.id {"ASC" if wanted.oldest else "DESC"}
        """,
        {**chosen.params, **params},
    )
    return rows.messages(found)
