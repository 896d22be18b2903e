"""What one statement tells before a search: most words that nobody said are known from it alone."""

from __future__ import annotations

from typing import NamedTuple

from ....search import analyze
from ....search.nodes import And, Node, Phrase, Term
from ....sql.driver import Tx
from . import tsquery

# A word that so few of the newest messages have not may be in none at all.
NEWEST = 50
# Rows of a rare word are counted up to here; its weight hardly changes beyond.
COUNTED = 2000


class Glance(NamedTuple):
    """`counts`: in how many messages a word is that must be there, of those that the newest have not."""

    newest: int
    is_stale: bool
    counts: dict[str, int]

    @property
    def finds_nothing(self) -> bool:
        return 0 in self.counts.values()


def containing(name: str) -> str:
    """How many messages match a query, counted up to COUNTED."""
    return f"""
        SELECT COUNT(DISTINCT x.message_id)
          FROM (SELECT message_id
                  FROM search_tokens
                 WHERE tsv @@ CAST(:{name} AS TSQUERY)
                 LIMIT {COUNTED}) x
    """


def glance(tx: Tx, *nodes: Node) -> Glance:
    """One statement, and so one moment, even without a transaction."""
    names = {text: f"asked{number}" for number, text in enumerate(_certain(nodes[0]) if len(nodes) == 1 else ())}
    seen = "".join(f", COUNT(*) FILTER (WHERE tsv @@ CAST(:{name} AS TSQUERY)) AS {name}" for name in names.values())
    counted = "".join(f", CASE WHEN g.{name} = 0 THEN ({containing(name)}) END" for name in names.values())
    found = tx.row(
        f"""
        WITH n AS MATERIALIZED (SELECT {{newest_message_id}} AS newest),
             g AS MATERIALIZED (
            SELECT COUNT(*){seen}
              FROM search_tokens
             WHERE message_id > (SELECT newest - {NEWEST} FROM n)
               AND message_id <= (SELECT newest FROM n)
               AND chunk = 0)
        SELECT n.newest, (SELECT MAX(analyser) FROM schema_version){counted}
          FROM n, g
        """,
        {name: text for text, name in names.items()},
    )
    newest, analyser, *counts = found or (0, None)
    known = {text: int(count) for text, count in zip(names, counts, strict=True) if count is not None}
    return Glance(int(newest), analyser != analyze.VERSION, known)


def _certain(node: Node) -> list[str]:
    """Words and phrases without which nothing matches, each once."""
    required = node.parts if isinstance(node, And) else (node,)
    return list(dict.fromkeys(tsquery.expression(part) for part in required if isinstance(part, Term | Phrase)))
