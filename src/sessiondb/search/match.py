"""Whether and how often a query is found in the words of a message; adjacency counts, case and spelling are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .nodes import And, Leaf, Node, Not, Or, Phrase, Term

Words = Sequence[str]


def matches(node: Node, tokens: Words, extra: Words = ()) -> bool:
    """Whether the query holds; each word or phrase may stand in the tokens or in the extra words."""
    return holds(node, lambda leaf: found(leaf, tokens) or found(leaf, extra))


def holds(node: Node, present: Callable[[Leaf], bool]) -> bool:
    """The truth of the tree, given the truth of its leaves."""
    match node:
        case And(parts):
            return all(holds(part, present) for part in parts)
        case Or(parts):
            return any(holds(part, present) for part in parts)
        case Not(part):
            return not holds(part, present)
        case _:
            return present(node)


def found(leaf: Leaf, words: Words) -> bool:
    if isinstance(leaf, Term) and not leaf.prefix:
        return leaf.token in words
    return next(positions(leaf, words), None) is not None


def count(leaf: Leaf, words: Words) -> int:
    if isinstance(leaf, Term) and not leaf.prefix:
        return words.count(leaf.token)
    return sum(1 for _ in positions(leaf, words))


def positions(leaf: Leaf, words: Words) -> Iterator[int]:
    """Where the leaf begins among the words."""
    if isinstance(leaf, Phrase):
        return _phrase_positions(leaf, words)
    if leaf.prefix:
        return (at for at, word in enumerate(words) if word.startswith(leaf.token))
    return _word_positions(leaf.token, words)


def length(leaf: Leaf) -> int:
    """How many words the leaf covers."""
    return len(leaf.tokens) if isinstance(leaf, Phrase) else 1


def _word_positions(token: str, words: Words) -> Iterator[int]:
    at = -1
    try:
        while True:
            yield (at := words.index(token, at + 1))
    except ValueError:
        return


def _phrase_positions(phrase: Phrase, words: Words) -> Iterator[int]:
    first, *middle = phrase.tokens[:-1]
    last = phrase.tokens[-1]
    for at in _word_positions(first, words):
        end = at + len(phrase.tokens) - 1
        if end < len(words) and list(words[at + 1 : end]) == middle and _ends(words[end], last, phrase.prefix):
            yield at


def _ends(word: str, last: str, prefix: bool) -> bool:
    return word.startswith(last) if prefix else word == last


def implies(one: Node, other: Node) -> bool:
    """Whether every message that has the one has the other, as far as their form tells; False when it does not."""
    if one == other:
        return True
    if isinstance(other, And):
        return all(implies(one, part) for part in other.parts)
    if isinstance(one, Or):
        return all(implies(part, other) for part in one.parts)
    if isinstance(other, Or) and any(implies(one, part) for part in other.parts):
        return True
    if isinstance(one, And):
        return any(implies(part, other) for part in one.parts)
    return isinstance(one, Term | Phrase) and isinstance(other, Term | Phrase) and _says(one, other)


def _says(one: Leaf, other: Leaf) -> bool:
    """Whether a word or phrase has another in it. What follows a beginning is not known."""
    said = one.tokens if isinstance(one, Phrase) else (one.token,)
    if other.prefix:
        return found(other, said)
    return found(other, said[:-1] if one.prefix else said)
