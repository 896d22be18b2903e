"""A query as a tsquery."""

from __future__ import annotations

from collections.abc import Iterator

from ....search.nodes import And, Leaf, Node, Not, Or, Phrase, Term
from .vectors import OVERLAP, lexeme


def expression(node: Node) -> str:
    match node:
        case Term(token, prefix):
            return _word(token, prefix)
        case Phrase(tokens, prefix):
            *first, last = tokens[:OVERLAP]
            return (
                f"({' <-> '.join([*(_word(each) for each in first), _word(last, prefix and len(tokens) <= OVERLAP)])})"
            )
        case And(parts):
            return f"({' & '.join(map(expression, parts))})"
        case Or(parts):
            return f"({' | '.join(map(expression, parts))})"
        case Not(part):
            return f"!{expression(part)}"


def looked_up(node: Node) -> str:
    """What the index can tell of a query: it knows no order of words, and nothing of what must be absent."""
    match node:
        case Phrase():
            return f"({' & '.join(words_of(node))})"
        case And(parts):
            wanted = [part for part in parts if not isinstance(part, Not)]
            return f"({' & '.join(map(looked_up, wanted or parts))})"
        case Or(parts):
            return f"({' | '.join(map(looked_up, parts))})"
        case _:
            return expression(node)


def _word(token: str, prefix: bool = False) -> str:
    return f"'{lexeme(token)}'{':*' if prefix else ''}"


def words_of(leaf: Leaf) -> list[str]:
    """Each word of a leaf as a query of its own."""
    if isinstance(leaf, Term):
        return [_word(leaf.token, leaf.prefix)]
    *first, last = leaf.tokens
    return [*map(_word, first), _word(last, leaf.prefix)]


def all_leaves(node: Node) -> list[Leaf]:
    """Every word and phrase, excluded ones too, each once."""
    return list(dict.fromkeys(_leaves(node)))


def _leaves(node: Node) -> Iterator[Leaf]:
    match node:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _leaves(part)
        case Not(part):
            yield from _leaves(part)
        case _:
            yield node


def is_exact(node: Node) -> bool:
    """Whether the index alone can tell: a phrase longer than the overlap of vectors must be looked up in the text."""
    return all(isinstance(leaf, Term) or len(leaf.tokens) <= OVERLAP for leaf in all_leaves(node))


def condition(node: Node, names: dict[Leaf, str]) -> str:
    """The tree as SQL over the parts of a message: a word is found when one of its vectors has it."""
    match node:
        case And(parts):
            return f"({' AND '.join(condition(part, names) for part in parts)})"
        case Or(parts):
            return f"({' OR '.join(condition(part, names) for part in parts)})"
        case Not(part):
            return f"NOT {condition(part, names)}"
        case _:
            return f"bool_or(t.tsv @@ CAST(:{names[node]} AS TSQUERY))"
