"""Words in a form that the server's full-text parser takes as they are.

The parser drops short words and English stop words, and splits at what it takes for punctuation; `zz` before an ASCII
word and `yy` before the hex digits of any other escape all of that. The texts of the index have every word between
blanks of its own (` zzone  zztwo `), so that a substring tells exactly where words and phrases are.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

# The parser cuts at 84.
LONGEST = 80
# Of an overlong word: as many hex digits of its beginning, then a digest.
KEPT = 60
# Stands before the extra words: no phrase reaches across.
BAR = "xxxbar"
CHUNK_WORDS = 30_000
# A phrase is at most so long, or it may be missed where two pieces meet.
OVERLAP = 200


def encoded(word: str) -> str:
    if word.isascii():
        return "zz" + word
    digits = word.encode("utf-8", "surrogatepass").hex()
    if len(digits) <= LONGEST - 2:
        return "yy" + digits
    return "yy" + digits[:KEPT] + blake2b(digits.encode(), digest_size=9).hexdigest()


def prefixes(start: str) -> list[str]:
    """The beginnings of all encoded words that start so, or of a few more where the word is overlong."""
    digits = start.encode("utf-8", "surrogatepass").hex()
    foreign = "yy" + digits[:KEPT]
    return ["zz" + start, foreign] if start.isascii() else [foreign]


def is_cut(start: str) -> bool:
    """Whether `prefixes` says less than was asked."""
    return len(start.encode("utf-8", "surrogatepass")) * 2 > KEPT


def text_of(words: Sequence[str], *, barred: bool = False) -> str:
    """The text of a column."""
    known: dict[str, str] = {}
    pieces = [known.get(word) or known.setdefault(word, encoded(word)) for word in words]
    if not pieces:
        return ""
    return f" {'  '.join([BAR, *pieces] if barred else pieces)} "


def chunks(body: Sequence[str], extra: Sequence[str]) -> list[tuple[Sequence[str], Sequence[str]]]:
    """The words in pieces that fit into a packet; nearly always one."""
    if len(body) <= CHUNK_WORDS and len(extra) <= CHUNK_WORDS:
        return [(body, extra)]
    pieces: list[tuple[Sequence[str], Sequence[str]]] = [(piece, ()) for piece in _pieces(body)]
    return pieces + [((), piece) for piece in _pieces(extra)]


def _pieces(words: Sequence[str]) -> list[Sequence[str]]:
    step = CHUNK_WORDS - OVERLAP
    return (
        [words[start : start + CHUNK_WORDS] for start in range(0, max(len(words) - OVERLAP, 1), step)] if words else []
    )
