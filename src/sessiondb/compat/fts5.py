"""How the original prepared a search box for FTS5; kept for callers, no search here needs it."""

from __future__ import annotations

import re

_PIECE = re.compile(r'"[^"]*"\*?|[^\s"+{}()^:]+')
_STARS = re.compile(r"\*+")
_JOINED = re.compile(r"\w+(?:[-.]\w+)+")
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_CJK = re.compile(
    "[\u3000-\u303f\u3040-\u309f\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0002a6df]"
)


def sanitized(query: str) -> str:
    """The query as FTS5 takes it: phrases kept, joined words quoted, stray signs and dangling operators gone."""
    pieces = [piece for found in _PIECE.findall(query) if (piece := _piece(found))]
    if pieces and pieces[0].upper() in _OPERATORS:
        del pieces[0]
    if pieces and pieces[-1].upper() in _OPERATORS:
        del pieces[-1]
    return " ".join(pieces)


def _piece(found: str) -> str:
    if found.startswith('"'):
        return found
    return _JOINED.sub(r'"\g<0>"', _STARS.sub("*", found).removeprefix("*"))


def contains_cjk(text: str) -> bool:
    """Whether a Chinese, Japanese or Korean character is in the text."""
    return _CJK.search(text) is not None
