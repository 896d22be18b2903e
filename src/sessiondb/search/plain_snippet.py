"""The snippet of the usual case, made at once: a plain text in which what is looked for stands once.

What this makes equals what `snippet` makes by its general way; where it cannot be sure it leaves the work to that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from .analyze import MAX_TOKEN
from .nodes import Node, Phrase, Term

OPEN, CLOSE, CUT = ">>>", "<<<", "..."
# So far before the match its words are looked for.
_BEFORE = 320
_WORD = re.compile(r"[a-z0-9]+")


def plain_snippet(text: str, node: Node | None, width: int, longest: int) -> str | None:
    """`width` words around the only match, at most `longest` characters; None when it is not that simple."""
    if not isinstance(node, Term | Phrase) or node.prefix or not text.isascii():
        return None
    tokens = node.tokens if isinstance(node, Phrase) else (node.token,)
    pattern = _pattern(tokens)
    lowered = text.lower()
    found = pattern.search(lowered) if pattern is not None and len(tokens) <= width else None
    # What begins inside a match is another one: "a b a" stands twice in "a b a b a".
    if found is None or pattern is None or pattern.search(lowered, found.start() + 1):
        return None
    first, last = found.span()
    edges = _edges(lowered, first, last, width - len(tokens))
    if edges is None or edges[1] - edges[0] > longest:
        return None
    start, end = edges
    marked = f"{text[start:first]}{OPEN}{text[first:last]}{CLOSE}{text[last:end]}"
    return CUT * (start > 0) + marked + CUT * (end < len(text))


@lru_cache(maxsize=64)
def _pattern(tokens: tuple[str, ...]) -> re.Pattern[str] | None:
    if not all(token.isascii() and len(token) < MAX_TOKEN for token in tokens):
        return None
    return re.compile(rf"(?<![a-z0-9]){'[^a-z0-9]+'.join(map(re.escape, tokens))}(?![a-z0-9])")


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
