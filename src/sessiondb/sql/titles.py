"""Titles that may hold the words of a query, found without reading all of them into Python."""

from __future__ import annotations

from collections.abc import Iterator

from ..search.analyze import MAX_TOKEN
from ..search.match import matches
from ..search.nodes import And, Node, Phrase, Term
from ..search.text import document
from .driver import Tx
from .escape import unescape

# Of ASCII text the words are parts, upper or lower case; other titles are looked at one by one.
CANDIDATES = """
    SELECT id, title
      FROM sessions
     WHERE title IS NOT NULL
       AND (octet_length(title) <> {length}(title) OR (%s))
     ORDER BY title
"""


def titled(tx: Tx, node: Node) -> list[str]:
    """The ids of the sessions whose title matches."""
    words = {f"word{number}": f"%{token}%" for number, token in enumerate(_required(node))}
    conditions = " AND ".join(f"LOWER(title) LIKE :{name}" for name in words) or "1 = 1"
    found = tx.rows(CANDIDATES % conditions, words)
    return [unescape(each) for each, title in found if matches(node, *document(unescape(title), ""))]


def _required(node: Node) -> Iterator[str]:
    """Words without which nothing matches."""
    for part in node.parts if isinstance(node, And) else (node,):
        tokens = part.tokens if isinstance(part, Phrase) else (part.token,) if isinstance(part, Term) else ()
        yield from (token for token in tokens if len(token) < MAX_TOKEN)
