"""The query as a tree, free of any engine's dialect.

`all_of`, `any_of` and `none_of` keep one law: a `Not` stands only inside an `And`, beside a part that is no `Not`;
or it is the whole tree, a pure negation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..values import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A word, or with `prefix` every word that starts so."""

    token: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in a row; with `prefix` the last one may go on."""

    tokens: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Node


Leaf = Term | Phrase
Node = Term | Phrase | And | Or | Not


def all_of(parts: Sequence[Node]) -> Node | None:
    """All parts hold; exclusions alone are one exclusion."""
    flat = _unique(inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,)))
    if flat and all(isinstance(part, Not) for part in flat):
        return none_of(any_of([part.part for part in flat if isinstance(part, Not)]))
    return _joined(And, flat)


def any_of(parts: Sequence[Node]) -> Node | None:
    """One of the parts holds; an exclusion among alternatives counts only when all are exclusions."""
    flat = _unique(inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,)))
    if flat and all(isinstance(part, Not) for part in flat):
        return none_of(all_of([part.part for part in flat if isinstance(part, Not)]))
    return _joined(Or, [part for part in flat if not isinstance(part, Not)])


def none_of(part: Node | None) -> Node | None:
    """The part does not hold; twice negated is affirmed."""
    if isinstance(part, Not):
        return part.part
    return Not(part) if part is not None else None


def leaves(node: Node) -> Iterator[Leaf]:
    """The words and phrases to find, each once, in order; excluded ones are left out."""
    return iter(dict.fromkeys(_leaves(node)))


def _leaves(node: Node) -> Iterator[Leaf]:
    match node:
        case Term() | Phrase():
            yield node
        case And(parts) | Or(parts):
            for part in parts:
                yield from _leaves(part)


def _unique(parts: Iterable[Node]) -> list[Node]:
    return list(dict.fromkeys(parts))


def _joined(kind: type[And] | type[Or], parts: Sequence[Node]) -> Node | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return kind(tuple(parts))
