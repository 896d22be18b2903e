"""Words of the index that look like one that is not in it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import apsw

from ....search.near import LONG, closest, slipped
from ....search.nodes import Term
from . import fts5

# As many as are needed to tell a usual word from a rare one.
COUNT = """
    SELECT COUNT(*)
      FROM (SELECT 1
              FROM messages_fts
             WHERE messages_fts MATCH :expression
             LIMIT 100)
"""
VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab('main', 'messages_fts', 'row')"
BEGINNING = """
    SELECT term, doc
      FROM temp.vocabulary
     WHERE term >= :first
       AND term < :beyond
"""
# Walking a vocabulary means walking all that its words are in.
SECONDS = 0.05
STEPS = 1000


def near_words(connection: apsw.Connection, words: Sequence[str]) -> dict[str, str]:
    """For each of these words that no message has, the closest that some have; what can be found in a short time."""
    found = {word: _near(connection, word) for word in words if not _count(connection, word)}
    return {word: near for word, near in found.items() if near is not None}


def _near(connection: apsw.Connection, word: str) -> str | None:
    one_slip = ((other, _count(connection, other)) for other in slipped(word))
    near = closest(word, ((other, messages) for other, messages in one_slip if messages))
    return closest(word, _beginning(connection, word[:2])) if near is None and len(word) >= LONG else near


def _count(connection: apsw.Connection, word: str) -> int:
    found = connection.execute(COUNT, {"expression": fts5.expression(Term(word))}).fetchall()
    return int(str(found[0][0]))


def _beginning(connection: apsw.Connection, start: str) -> Iterator[tuple[str, int]]:
    connection.execute(VOCABULARY)
    until = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)
    try:
        beyond = start[:-1] + chr(ord(start[-1]) + 1)
        for term, messages in connection.execute(BEGINNING, {"first": start, "beyond": beyond}):
            yield str(term), int(str(messages))
    except apsw.InterruptError:
        return
    finally:
        connection.set_progress_handler(None)
