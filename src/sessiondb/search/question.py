"""A plain question as things to look for: its words and their inflections, without the words that only ask.

The search box's grammar holds: quoted phrases, OR, NOT and parentheses must hold as typed, filters narrow. All other
words may be missing from a message; the more of them it has, the better.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ..values import NamedTuple, dataclass, replace
from . import analyze, stopwords
from .nodes import And, Leaf, Node, Or, Phrase, Term, all_of, any_of, leaves
from .query import Query, literal, parse

# Shorter words are names and abbreviations more often than inflected.
SHORTEST_INFLECTED = 4
LONGEST_ENDING = 4
MOST_WANTED = 24
_QUOTED = r'"([^"]+)"'
# What programs say about themselves; anywhere else NOT excludes.
_SAYINGS = r"\bNOT (?=(?:NULL|EXISTS|FOUND|IN|LIKE|BETWEEN)\b)"
_CURLY_QUOTES = str.maketrans("“”„", '"""')


class Root(NamedTuple):
    """The inflections of a word: all words that start so and are not much longer."""

    start: str
    longest: int

    @property
    def node(self) -> Term:
        return Term(self.start, prefix=self.longest > len(self.start))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A thing the question names: as typed, and the roots of its words, which may stand apart."""

    exact: Leaf
    roots: tuple[Root, ...]

    @property
    def marks(self) -> list[Leaf]:
        """What shows where it was said."""
        inflected: list[Leaf] = [root.node for root in self.roots]
        return inflected if isinstance(self.exact, Term) and inflected else [self.exact, *inflected]

    @property
    def loose(self) -> Node:
        """Holds wherever `exact` holds, and for inflections."""
        return all_of([root.node for root in self.roots]) or self.exact


@dataclass(frozen=True, slots=True)
class Question:
    """What to look for; the words that only ask; what must hold in any case; and the question met in full."""

    query: Query
    wanted: tuple[Wanted, ...] = ()
    asides: tuple[str, ...] = ()
    required: tuple[Node, ...] = ()
    whole: Node | None = None

    @property
    def parts(self) -> list[Node]:
        """First the whole, then each thing loosely, beside what is required."""
        single = (all_of([thing.loose, *self.required]) for thing in self.wanted)
        return [part for part in (self.whole, *single) if part is not None]


def understand(box: str) -> Question:
    """The question that was typed; never raises."""
    query = parse(re.sub(_SAYINGS, "not ", box))
    if query.node is None:
        return Question(query)
    parts = query.node.parts if isinstance(query.node, And) else (query.node,)
    quoted = {literal(text) for text in re.findall(_QUOTED, box.translate(_CURLY_QUOTES))}
    plain = [part for part in parts if isinstance(part, Term | Phrase) and part not in quoted]
    stop = stopwords.among([token for leaf in leaves(query.node) for token in _tokens(leaf)])
    required = tuple(_without(stop, part) for part in parts if part not in plain)
    wanted, asides = _sorted_out(plain, stop)
    if not wanted and not any(True for part in required for _ in leaves(part)):
        wanted, asides = [_thing(part) for part in plain], []
    return _question(query, wanted, asides, required)


def as_typed(question: Question) -> Question | None:
    """A question that names one thing of several words, such as a path, as if it stood in quotes; None for others.

    None as well for one that can be taken in no other way.
    """
    if len(question.wanted) != 1 or question.required or not isinstance(question.wanted[0].exact, Phrase):
        return None
    if not question.wanted[0].roots:
        return None
    return replace(question, wanted=(_as_typed(question.wanted[0].exact),))


def taken_apart(question: Question) -> Question:
    """The question as single words, any of which will do: the last resort when nothing else is found."""
    words = dict.fromkeys(word for thing in question.wanted for word in _tokens(thing.exact))
    kept = tuple(part for part in question.required if not isinstance(part, Or | And))
    return _question(question.query, [_thing(Term(word)) for word in words], question.asides, kept)


def _question(query: Query, wanted: Sequence[Wanted], asides: Sequence[str], required: tuple[Node, ...]) -> Question:
    whole = all_of([*(thing.exact for thing in wanted), *required])
    strict = [_as_typed(leaf) for part in required for leaf in leaves(part)]
    things = _telling(list(dict.fromkeys([*strict, *wanted])))
    return Question(query, tuple(things), tuple(dict.fromkeys(asides)), required, whole)


def _telling(things: list[Wanted]) -> list[Wanted]:
    """Of a pasted page some long words, which tend to be rare; of a question all."""
    if len(things) <= MOST_WANTED:
        return things
    longest = sorted(things, key=lambda thing: -sum(map(len, _tokens(thing.exact))))[:MOST_WANTED]
    return [thing for thing in things if thing in longest]


def _without(stop: Collection[str], node: Node) -> Node:
    """An alternative without the words that only ask, where others are left."""
    match node:
        case Or(parts):
            return any_of([_without(stop, part) for part in parts]) or node
        case And(parts):
            return all_of([part for part in parts if not (isinstance(part, Term) and part.token in stop)]) or node
        case _:
            return node


def _sorted_out(plain: Sequence[Leaf], stop: Collection[str]) -> tuple[list[Wanted], list[str]]:
    wanted: list[Wanted] = []
    asides: list[str] = []
    for leaf in plain:
        found = [_thing(part) for part in _content(leaf, stop)]
        wanted += found
        asides += [] if found else _tokens(leaf)
    return wanted, asides


def _content(leaf: Leaf, stop: Collection[str]) -> Iterator[Leaf]:
    """What is left of a word or phrase without stop words around it; unspaced runs in pairs."""
    tokens = list(_tokens(leaf))
    if any(map(analyze.unspaced, tokens)):
        yield from (Term(token, prefix=len(token) == 1 and analyze.unspaced(token)) for token in tokens)
        return
    while tokens and tokens[0] in stop:
        del tokens[0]
    prefix = leaf.prefix
    while tokens and tokens[-1] in stop:
        prefix = False
        del tokens[-1]
    if tokens:
        yield Term(tokens[0], prefix) if len(tokens) == 1 else Phrase(tuple(tokens), prefix)


def _thing(leaf: Leaf) -> Wanted:
    return _as_typed(leaf) if leaf.prefix else Wanted(leaf, tuple(_root(token) for token in _tokens(leaf)))


def _as_typed(leaf: Leaf) -> Wanted:
    return Wanted(leaf, ())


def _root(word: str) -> Root:
    if len(word) < SHORTEST_INFLECTED or not word.isalpha() or analyze.unspaced(word):
        return Root(word, len(word))
    start = analyze.stem(word)
    if len(start) == len(word) > 6:
        # Longer words of other languages change their last letters too.
        start = word[:-2]
    return Root(start, max(len(word), len(start) + LONGEST_ENDING))


def _tokens(leaf: Leaf) -> tuple[str, ...]:
    return leaf.tokens if isinstance(leaf, Phrase) else (leaf.token,)
