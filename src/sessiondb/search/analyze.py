"""The one analysis of text: what a word is, for every engine, at index time and at query time.

Text is compared by NFKC, casefolded, without the diacritics of Latin and Greek, Arabic and Hebrew vowel points and
invisible characters; digits of all scripts are equal. A word is a run of letters and digits, everything else separates.
Scripts that write no blanks between words (Han, Kana, Hangul, Thai, Lao, Khmer, Myanmar) give overlapping pairs of
characters and the last character alone, so that any part of a run is a phrase and one character is a prefix.
An emoji is a word. Whoever changes an outcome here raises `VERSION`: indexes made before are made again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain
from operator import add

VERSION = 3
MAX_TOKEN = 64
KEPT_PREFIX = 48

Span = tuple[str, int, int]
Places = Callable[[int], tuple[int, int]]

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff"
    "\u3100-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001aff0-\U0001b16f\U00020000-\U000323af"
)
_EMOJI = "\u231a-\u231b\u23e9-\u23fa\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001fbff"
# Diacritics, points, skin tones and selectors that readers leave out when they type.
_OPTIONAL = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670-\u0670\u06d6-\u06ed\u08d3-\u08ff\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\u302a-\u302f\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef"
)
# No marks, yet part of the character before them: vowels and finals of Hangul, halfwidth signs, skin tones.
_JOINS_BACK = "\u1160-\u11ff\u3130-\u318f\ud7b0-\ud7ff\uff9e-\uffdc\U0001f3fb-\U0001f3ff"
# Tatweel stretches a word; the modifier letters from ʹ to ʿ are typed as apostrophes.
_SPECIAL = {"\u0640": "", **dict.fromkeys("\u02b9\u02ba\u02bb\u02bc\u02bd\u02be\u02bf", " ")}
_SPECIAL |= dict(zip("đðøłħŧıæœþ", ("d", "d", "o", "l", "h", "t", "i", "ae", "oe", "th"), strict=True))
_SPECIAL |= dict(zip("ёأإآٱىیک", "еااااييك", strict=True))

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_ASCII_RUN = re.compile(r"[A-Za-z0-9]+")
# Colours and movements of a terminal, in what tools print.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CHUNK = re.compile(r"[^ \t\r\n]+")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
# Letters of which only the case is folded, and the signs that stand among them.
_SIGNS = "\u00ab\u00bb\u2013\u2014\u2018\u2019\u201c\u201d\u201e\u2026"
_RUSSIAN_FOLDING = str.maketrans({"\u0451": "\u0435", **dict.fromkeys(_SIGNS, " "), "\u2026": "..."})
# Han, Kana and Hangul that are compared as they are written, and what separates them; beside ASCII, all of most texts.
_AS_WRITTEN = "\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_STOPS = (
    "\u2018\u2019\u201c\u201d\u2026\u3000-\u3002\u3008-\u3011\u3014\u3015\u30fb\uff01\uff08\uff09\uff0c\uff0e\uff0f\uff1a\uff1b"
    "\uff1f"
)
# Where a word changes from small to capital letters, or between letters and digits; most texts have no such place.
_MIXED = re.compile(r"[A-Z0-9](?:(?<=[a-z].)|(?<=[0-9])[A-Za-z]|(?<=[A-Z])(?:[0-9]|[A-Z][a-z]))")
# Patterns left as text are compiled at first use: a command that only lists must start fast.
_PART = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"


@cache
def _run() -> re.Pattern[str]:
    """Groups: a run of an unspaced script, or a word. Costly to compile, and plain English never needs it."""
    return re.compile(f"([{_UNSPACED}]+)|([^\x00-/:-@\\[-`{{-\x7f{_UNSPACED}]+)")


@cache
def _russian() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Texts of which only the case is folded, and what else is replaced in them."""
    return re.compile(f"[\x00-\x7f\u0410-\u044f\u0401\u0451{_SIGNS}]*"), re.compile(f"[\u0401\u0451{_SIGNS}]")


@cache
def _east_asian() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Texts that need no folding but of ASCII letters, and what `_run` finds in them."""
    return re.compile(f"[\x00-\x7f{_AS_WRITTEN}{_STOPS}]*"), re.compile(f"([{_AS_WRITTEN}]+)|([a-z0-9]+)")


def _found_runs(text: str) -> list[tuple[str, str]]:
    """The runs of unspaced scripts and the words of a text that is not all ASCII, folded: pairs, one of them empty."""
    first = _FOREIGN.search(text)
    if first is not None and first[0] >= "\u2e80":
        plain, runs = _east_asian()
        if plain.fullmatch(text):
            return runs.findall(text.lower())
    return _run().findall(_fold(text))


def _within(ranges: str, character: str) -> bool:
    return any(ranges[at] <= character <= ranges[at + 2] for at in range(0, len(ranges), 3))


def _seen(text: str) -> str:
    """The text as a terminal shows it: blanks for its commands, so that every place is what it was."""
    return _ESCAPES.sub(lambda found: " " * len(found[0]), text) if "\x1b" in text else text


def tokens(text: str) -> list[str]:
    """The words of the text in order, as they are indexed."""
    return _words(_seen(text))


def _words(text: str) -> list[str]:
    if text.isascii():
        return _all_shortened(text, _ASCII_WORD.findall(text.lower()))
    words: list[str] = []
    for run, word in _found_runs(text):
        if run:
            words += bigrams(run)
        else:
            words.append(word)
    return _all_shortened(text, words)


def is_cut_alike(text: str) -> bool:
    """Whether any tokenizer that cuts ASCII at what is no letter and no digit finds the words of `tokens` in it.

    False for some texts where it would, too.
    """
    if not text.isascii() or "\x1b" in text:
        return False
    # An overlong word fills one of these blocks.
    half = MAX_TOKEN // 2
    blocks = range(0, len(text) - half + 1, half)
    return all([" " in text[at : at + half] for at in blocks])  # noqa: C419  a generator takes twice as long


def _all_shortened(text: str, words: list[str]) -> list[str]:
    if len(text) > MAX_TOKEN and words and max(map(len, words)) > MAX_TOKEN:
        return [shortened(word) for word in words]
    return words


def runs(text: str) -> list[str]:
    """The folded words of the text in order, unspaced runs whole."""
    text = _seen(text)
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return [run or word for run, word in _found_runs(text)]


def spans(text: str) -> list[Span]:
    """The tokens of `tokens(text)`, each with its start and end in the text as given."""
    words, places = located(text)
    return [(word, *place) for word, place in zip(words, map(places, range(len(words))), strict=True)]


def located(text: str) -> tuple[list[str], Places]:
    """The tokens of `tokens(text)`, and the start and end of each when asked: most are never asked for."""
    text = _seen(text)
    if text.isascii():
        found = list(_ASCII_WORD.finditer(text.lower()))
        return _all_shortened(text, [word[0] for word in found]), lambda at: found[at].span()
    known = list(_aligned_spans(text) if all(map(_stands_alone, set(text))) else _foreign_spans(text))
    return [token for token, _, _ in known], lambda at: known[at][1:]


def _aligned_spans(text: str) -> Iterator[Span]:
    """Where each character becomes one, whatever stands beside it, places are what they were."""
    folded = _fold(text)
    for run in _run().finditer(folded):
        start, end = run.span()
        if run[2]:
            yield shortened(run[2]), start, end
        else:
            yield from ((folded[at : at + 2], at, at + 2) for at in range(start, end - 1))
            yield folded[end - 1 : end], end - 1, end


def _foreign_spans(text: str) -> Iterator[Span]:
    for chunk in _CHUNK.finditer(text):
        piece, offset = chunk[0], chunk.start()
        inside: Iterable[Span] = _ascii_spans(piece) if piece.isascii() else _folded_spans(piece)
        for token, start, end in inside:
            yield shortened(token), start + offset, end + offset


def extra(text: str, body: Iterable[str] | None = None) -> list[str]:
    """The parts of identifiers, `user` and `name` of `getUserName`, that are no words of the text themselves.

    `body` are the words of the text, where they are known. Of a text with colours also what is glued to their
    commands: whoever types that finds it, too.
    """
    shown = _seen(text)
    glued = _words(text) if shown is not text else ()
    if not glued and not _MIXED.search(shown):
        return []
    found = [parts for word in dict.fromkeys(_ASCII_RUN.findall(shown)) if (parts := _PARTS[word])]
    known = set(tokens(text) if body is None else body)
    return [part for part in dict.fromkeys(chain(chain.from_iterable(found), glued)) if part not in known]


def unspaced(run: str) -> bool:
    """Whether a run is of a script that writes no blanks between words."""
    return run[0] > "\u0dff" and _within(_UNSPACED, run[0])


def shortened(word: str) -> str:
    """The word, or the start of an overlong one with a digest of the whole."""
    if len(word) <= MAX_TOKEN:
        return word
    # OpenSSL comes with hashlib; most processes never meet such a word.
    from hashlib import blake2b

    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return word[:KEPT_PREFIX] + digest


def bigrams(run: str) -> list[str]:
    """The overlapping pairs of a run and its last character."""
    return [*map(add, run, run[1:]), *run[-1:]]


_ENDINGS = (
    (r"(?<=[a-z]{3})(?:ies|ied)$", "y"),
    (r"(?<=s)ses$", "s"),
    (r"(?<=ch|sh|[a-z][xz])es$", ""),
    (r"(?<=[a-z]{2}[^su])s$", ""),
    (r"(?<=[a-z]{2})([bdgmnprt])\1(?:ing|ed|er)$", r"\1"),
    (r"(?<=[a-z]{3})(?:ing|ed|er|e)$", ""),
    (r"(?<=[a-z]{4})(?:ation|ment|ness|ly)$", ""),
)


def stem(word: str) -> str:
    """A rough common form of an English word's inflections; for ranking, never for matching."""
    if not word.isascii() or not word.isalpha():
        return word
    for pattern, replacement in _ENDINGS:
        word = re.sub(pattern, replacement, word)
    return word


class _Folding(dict[int, str]):
    """What each character becomes, learned as characters are met."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold_character(chr(code))
        return folded


_FOLDING = _Folding()


def _fold(text: str) -> str:
    """The text as it is compared; of the characters left, ASCII punctuation and blanks separate."""
    plain, special = _russian()
    if plain.fullmatch(text):
        return text.lower().translate(_RUSSIAN_FOLDING) if special.search(text) else text.lower()
    # Its tables are large: plain English never needs them, nor does a command that finds such.
    from unicodedata import normalize

    # NFKC would glue these signs to the name before them.
    if "\u2122" in text or "\u2120" in text:
        text = text.replace("\u2122", " ").replace("\u2120", " ")
    return _FOREIGN.sub(_fold_foreign, normalize("NFKC", text)).lower()


def _fold_foreign(found: re.Match[str]) -> str:
    return found[0].translate(_FOLDING)


def _fold_character(character: str) -> str:
    from unicodedata import category, decimal

    kind = category(character)
    if character in _SPECIAL:
        return _SPECIAL[character]
    # Hebrew has its hyphen among its points.
    if kind == "Cf" or (kind[0] != "P" and _within(_OPTIONAL, character)):
        return ""
    if kind in ("So", "Cn") and _within(_EMOJI, character):
        return f" {character} "
    if kind == "Nd":
        return str(decimal(character))
    if kind[0] in "LMN" or kind == "Cn":
        return _fold_letter(character)
    return " "


def _fold_letter(character: str) -> str:
    from unicodedata import combining, normalize

    folded = character.casefold()
    base = normalize("NFKD", folded)
    if base < "\u0250" or "\u0370" <= base < "\u0400":
        folded = "".join(part for part in base if not combining(part))
    else:
        folded = normalize("NFKC", folded)
    return "".join(_SPECIAL.get(part, part) for part in folded)


def _ascii_spans(piece: str) -> list[Span]:
    return [(word[0], word.start(), word.end()) for word in _ASCII_WORD.finditer(piece.lower())]


def _folded_spans(piece: str) -> Iterator[Span]:
    folded, origins = _fold_with_origins(piece)
    for run in _run().finditer(folded):
        start, end = run.span()
        if run[2]:
            yield run[2], origins[start][0], origins[end - 1][1]
            continue
        for at in range(start, end):
            last = min(at + 1, end - 1)
            yield folded[at : last + 1], origins[at][0], origins[last][1]


def _fold_with_origins(piece: str) -> tuple[str, list[tuple[int, int]]]:
    """The folded piece, and for each of its characters the stretch of the piece it comes from."""
    folded: list[str] = []
    origins: list[tuple[int, int]] = []
    for start, end in _clusters(piece):
        part = _fold_cluster(piece[start:end])
        folded.append(part)
        origins += [(start, end)] * len(part)
    return "".join(folded), origins


def _clusters(piece: str) -> Iterable[tuple[int, int]]:
    """The shortest stretches that normalise alone to what they are within the whole."""
    starts = [at for at, character in enumerate(piece) if at == 0 or not _joins_back(character)]
    return zip(starts, [*starts[1:], len(piece)], strict=True)


@lru_cache(maxsize=8192)
def _fold_cluster(cluster: str) -> str:
    return _fold(cluster)


@lru_cache(maxsize=8192)
def _joins_back(character: str) -> bool:
    from unicodedata import category

    return not character.isascii() and (category(character)[0] == "M" or _within(_JOINS_BACK, character))


@lru_cache(maxsize=8192)
def _stands_alone(character: str) -> bool:
    return not _joins_back(character) and len(_fold(character)) == 1


class _Parts(dict[str, tuple[str, ...]]):
    """The parts of identifiers, none for plain words; learned as words are met, the usual ones again and again."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        parts = self[word] = tuple(_parts(word)) if 2 < len(word) <= MAX_TOKEN and not _is_plain(word) else ()
        return parts


_REMEMBERED = 20_000
_PARTS = _Parts()


def _is_plain(word: str) -> bool:
    return word.isdigit() or (word.isalpha() and (word.isupper() or word.islower() or word[1:].islower()))


def _parts(word: str) -> list[str]:
    """The humps of an identifier; none for what looks like encoded bytes."""
    parts = re.findall(_PART, word)
    if len(parts) > 2 and len(word) < 2.5 * len(parts):
        return []
    return [part.lower() for part in parts if len(part) > 1]
