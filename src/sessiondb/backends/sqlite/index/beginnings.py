"""Short beginnings (`de*`) that many messages have: FTS5 reads all their words before it tells the first message.

Where something else is asked for as well, the index is asked for that alone, and whoever has it is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....search.nodes import And, Node, Not, Phrase, Term
from ....sql.driver import Tx

# In small stores the index is fast enough; in large ones so many of the newest messages tell who has a beginning.
LARGE = 50_000
LONGEST = 4
SAMPLED = 200
# FTS5 takes longer to read a beginning of so many messages than we to look at those that have the rest.
COSTLY = 100_000

SAMPLE = """
    SELECT SUM(instr(lower(substr(content, 1, 2000)), :start) > 0)
      FROM messages
     WHERE id > :newest
"""


class Beginnings:
    """What a look at the newest messages tells about them."""

    def __init__(self, tx: Tx, newest: int) -> None:
        self.tx, self.newest = tx, newest
        self._shares: dict[str, float] = {}

    def is_in_most(self, part: Node) -> bool:
        return self._share(part) > 0.5

    def is_costly(self, part: Node) -> bool:
        return self._share(part) * self.newest > COSTLY

    def spared(self, node: Node) -> Node:
        """What to ask the index for instead: no more than the query, so that whoever has the query has this."""
        match node:
            case Phrase(_, True):
                return self._cheaper(node) or node
            case And(parts):
                cheaper = [each for part in parts if (each := self._cheaper(part)) is not None]
                if all(isinstance(each, Not) for each in cheaper):
                    return node
                return cheaper[0] if len(cheaper) == 1 else And(tuple(cheaper))
        return node

    def _cheaper(self, part: Node) -> Node | None:
        match part:
            case Not(inner):
                return None if self._cheaper(inner) != inner else part
            case Phrase(tokens, True):
                return _said(tokens[:-1]) if self.is_costly(Term(tokens[-1], True)) else part
        return None if self.is_costly(part) else part

    def _share(self, part: Node) -> float:
        """How many of the newest messages have it, if it is such a beginning; else none."""
        if not isinstance(part, Term) or not part.prefix or len(part.token) > LONGEST or self.newest < LARGE:
            return 0.0
        if part.token not in self._shares:
            found = self.tx.row(SAMPLE, {"newest": self.newest - SAMPLED, "start": part.token})
            self._shares[part.token] = ((found and found[0]) or 0) / SAMPLED
        return self._shares[part.token]


def _said(tokens: Sequence[str]) -> Node:
    return Phrase(tuple(tokens)) if len(tokens) > 1 else Term(tokens[0])
