"""A query as the server's boolean mode, which narrows, and as a condition on the stored words, which decides.

The narrowing is a list of clauses that must all hold, each a choice of encoded words: all that boolean mode is sure
to understand. Where it says less than the query (phrases, alternatives of several words), the condition is added.
"""

from __future__ import annotations

from typing import Any

from ...search.nodes import And, Leaf, Node, Not, Or, Phrase, Term
from .encoding import encoded, is_cut, prefixes

Clause = tuple[str, ...]


def expression(node: Node) -> str:
    excluded = "".join(f" -{encoded(word)}" for word in _excluded(node))
    return " ".join(map(_required, _clauses(node))) + excluded


def looked_up(node: Node) -> Node:
    """What the index can tell of a query: it knows no order of words, and nothing of what must be absent."""
    match node:
        case Phrase(tokens, prefix):
            return And((*map(Term, tokens[:-1]), Term(tokens[-1], prefix)))
        case And(parts):
            wanted = tuple(part for part in parts if not isinstance(part, Not))
            return And(tuple(map(looked_up, wanted or parts)))
        case Or(parts):
            return Or(tuple(map(looked_up, parts)))
        case _:
            return node


def is_exact(node: Node) -> bool:
    """Whether the expression finds exactly what the query asks for."""
    match node:
        case Term(token, prefix):
            return not (prefix and is_cut(token))
        case Or(parts):
            return all(isinstance(part, Term) and is_exact(part) for part in parts)
        case And(parts):
            return all(is_exact(part) or _is_plain_exclusion(part) for part in parts)
        case _:
            return False


def _is_plain_exclusion(node: Node) -> bool:
    return isinstance(node, Not) and isinstance(node.part, Term) and not node.part.prefix


def _excluded(node: Node) -> list[str]:
    parts = node.parts if isinstance(node, And) else ()
    return [part.part.token for part in parts if isinstance(part, Not) and _is_plain_exclusion(part)]  # type: ignore[union-attr]


def _required(clause: Clause) -> str:
    return f"+{clause[0]}" if len(clause) == 1 else f"+({' '.join(clause)})"


def _clauses(node: Node) -> list[Clause]:
    match node:
        case Term(token, prefix):
            return [_word(token, prefix)]
        case Phrase(tokens, prefix):
            return list(dict.fromkeys([*((encoded(token),) for token in tokens[:-1]), _word(tokens[-1], prefix)]))
        case And(parts):
            return list(dict.fromkeys(clause for part in parts for clause in _clauses(part)))
        case Or(parts):
            # Of each alternative its most telling clause: whoever satisfies one satisfies this.
            return [tuple(dict.fromkeys(word for part in parts for word in max(_clauses(part), key=_weight)))]
        case Not():
            return []


def _weight(clause: Clause) -> tuple[int, int]:
    return -len(clause), min(map(len, clause))


def _word(token: str, prefix: bool) -> Clause:
    return tuple(f"{start}*" for start in prefixes(token)) if prefix else (encoded(token),)


# --- the condition ---


def needles(leaf: Leaf) -> list[str]:
    """The substrings of a column that show the leaf."""
    if isinstance(leaf, Term):
        return [f" {start}" for start in prefixes(leaf.token)] if leaf.prefix else [f" {encoded(leaf.token)} "]
    before = "".join(f" {encoded(token)} " for token in leaf.tokens[:-1])
    return [before + needle for needle in needles(Term(leaf.tokens[-1], leaf.prefix))]


class Needles:
    """Parameters for substrings, each once."""

    def __init__(self) -> None:
        self.params: dict[str, Any] = {}

    def name(self, needle: str) -> str:
        name = f"needle{len(self.params)}"
        self.params[name] = needle
        return name

    def decisive(self, node: Node) -> str:
        """The condition, where the expression does not decide alone."""
        return "1 = 1" if is_exact(node) else self.condition(node)

    def condition(self, node: Node) -> str:
        match node:
            case And(parts):
                return "(" + " AND ".join(map(self.condition, parts)) + ")"
            case Or(parts):
                return "(" + " OR ".join(map(self.condition, parts)) + ")"
            case Not(part):
                return f"NOT {self.condition(part)}"
            case _:
                return self.present(node)

    def present(self, leaf: Leaf) -> str:
        names = map(self.name, needles(leaf))
        found = (f"INSTR(w.{column}, :{name}) > 0" for name in names for column in ("body", "extra"))
        return "(" + " OR ".join(found) + ")"

    def times(self, leaf: Leaf, column: str) -> str:
        """How often the leaf is in a column."""
        return " + ".join(_occurrences(column, self.name(needle), len(needle)) for needle in needles(leaf))


def _occurrences(column: str, name: str, length: int) -> str:
    return f"(LENGTH(w.{column}) - LENGTH(REPLACE(w.{column}, :{name}, ''))) DIV {length}"
