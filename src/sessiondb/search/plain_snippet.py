"""The snippet of the usual case, made at once: a plain text in which what is looked for stands once.

What this makes equals what `snippet` makes by its general way; where it cannot be sure it leaves the work to that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from .analyze import KEPT_PREFIX
from .nodes import Node, Phrase, Term

OPEN, CLOSE, CUT = ">>>", "<<<", "..."
# So far before the match its words are looked for.
_BEFORE = 320
_WORD = re.compile(r"[a-z0-9]+")


def plain_snippet(text: str, node: Node | None, width: int, longest: int) -> str | None:
    """`width` words around the only match, at most `longest` characters; None when it is not that simple."""
    if not isinstance(node, Term | Phrase) or not text.isascii():
        return None
    tokens = node.tokens if isinstance(node, Phrase) else (node.token,)
    lowered = text.lower()
    found = _only(tokens, node.prefix, lowered) if len(tokens) <= width else None
    if found is None:
        return None
    first, last = found
    edges = _edges(lowered, first, last, width - len(tokens))
    if edges is None or edges[1] - edges[0] > longest:
        return None
    start, end = edges
    marked = f"{text[start:first]}{OPEN}{text[first:last]}{CLOSE}{text[last:end]}"
    return CUT * (start > 0) + marked + CUT * (end < len(text))


def _only(tokens: tuple[str, ...], prefix: bool, lowered: str) -> tuple[int, int] | None:
    """Where the words stand, if they do once; a search for the plain first word is much faster than one by pattern."""
    first = lowered.find(tokens[0])
    pattern = _pattern(tokens, prefix) if first >= 0 else None
    if pattern is None:
        return None
    found = pattern.search(lowered, first)
    # What begins inside a match is another one: "a b a" stands twice in "a b a b a".
    if found is None or ((again := lowered.find(tokens[0], found.start() + 1)) >= 0 and pattern.search(lowered, again)):
        return None
    return found.span()


@lru_cache(maxsize=64)
def _pattern(tokens: tuple[str, ...], prefix: bool) -> re.Pattern[str] | None:
    if not all(token.isascii() and len(token) < KEPT_PREFIX for token in tokens):
        return None
    end = "[a-z0-9]*" if prefix else "(?![a-z0-9])"
    return re.compile(rf"(?<![a-z0-9]){'[^a-z0-9]+'.join(map(re.escape, tokens))}{end}")


def _edges(lowered: str, first: int, last: int, room: int) -> tuple[int, int] | None:
    """Start and end of the window with `room` more words, as many before as behind the match."""
    behind = list(islice(_WORD.finditer(lowered, last), room + 1))
    wanted = max(room // 2, room - len(behind))
    begin = max(0, first - _BEFORE)
    before = list(_WORD.finditer(lowered, begin, first))
    if begin and len(before) <= wanted + 1:
        return None
    taken = min(wanted, len(before))
    if taken == len(before):
        start = 0
    else:
        start = before[-taken].start() if taken else first
    left = room - taken
    if left >= len(behind):
        return start, len(lowered)
    return start, behind[left - 1].end() if left else last
