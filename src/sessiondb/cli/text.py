"""Stored text as it may be shown: nothing in it commands the terminal, and its width in columns is known.

Widths are those of grapheme clusters as terminals draw them: an ideograph takes two columns, so do an emoji, a family
joined of several, a flag of two letters, and a sign that a variation selector makes an emoji; marks take none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

# C0 but tab and line feed, DEL, C1, marks that turn the direction of writing, lone surrogates.
_COMMANDS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"

_JOINER, _EMOJI_STYLE, _TEXT_STYLE = "\u200d", "\ufe0f", "\ufe0e"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_SKINS = range(0x1F3FB, 0x1F400)
# Vowels and final consonants of Hangul that stand alone; they join the consonant before them.
_JAMO = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))
ELLIPSIS = "…"


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def safe(text: object) -> str:
    """The text with every character that a terminal would obey written out, such as \\x1b."""
    shown = str(text)
    # All of them count as not printable; the pattern, slow to compile, is for what has some.
    return shown if shown.isprintable() else re.sub(_COMMANDS, _escaped, shown.replace("\r\n", "\n"))


def safe_json(text: str) -> str:
    """JSON text with the same characters as JSON escapes."""
    return re.sub(_COMMANDS, lambda found: f"\\u{ord(found[0]):04x}", text)


def line(text: object) -> str:
    """The text on one line."""
    return safe(" ".join(str(text).split()))


def width(text: str) -> int:
    """Columns on a terminal."""
    return len(text) if text.isascii() else sum(columns for _, columns in _clusters(text))


def cut(text: str, columns: int) -> str:
    """The text if it fits, else its beginning and an ellipsis; a cluster is never torn."""
    if width(text) <= columns:
        return text
    kept, room = [], columns - 1
    for cluster, taken in _clusters(text):
        room -= taken
        if room < 0:
            break
        kept.append(cluster)
    return "".join(kept).rstrip() + ELLIPSIS if columns > 0 else ""


def pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def wrapped(text: str, columns: int) -> Iterator[str]:
    """The lines of a text, broken between words where they are too long for so many columns."""
    for paragraph in text.split("\n"):
        rest = paragraph.expandtabs(4)
        while width(rest) > columns:
            head = _head(rest, columns)
            at = head.rfind(" ") + 1 if rest[len(head) : len(head) + 1] != " " else len(head)
            # A word longer than the line is broken where the line ends.
            at = at if head[:at].strip() else len(head)
            yield rest[:at].rstrip()
            rest = rest[at:].lstrip(" ")
        yield rest


def _head(text: str, columns: int) -> str:
    length = 0
    for cluster, taken in _clusters(text):
        columns -= taken
        if columns < 0 and length:
            break
        length += len(cluster)
    return text[:length]


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """What is drawn as one, with its columns."""
    start, columns, joined, flag = 0, 0, False, False
    for at, letter in enumerate(text):
        code, own = ord(letter), _columns(letter)
        if at == start:
            columns, flag = own, code in _FLAG_LETTERS
        elif joined or own == 0 or _continues(text[start], code, flag):
            columns = 2 if letter == _EMOJI_STYLE or own or flag else columns
            columns = 1 if letter == _TEXT_STYLE and columns else columns
            flag = False
        else:
            yield text[start:at], columns
            start, columns, flag = at, own, code in _FLAG_LETTERS
        joined = letter == _JOINER
    if start < len(text):
        yield text[start:], columns


def _continues(first: str, code: int, flag: bool) -> bool:
    """The second letter of a flag; a skin for an emoji."""
    return (flag and code in _FLAG_LETTERS) or (code in _SKINS and not first.isascii())


@lru_cache(maxsize=4096)
def _columns(letter: str) -> int:
    if letter.isascii():
        return 1
    from unicodedata import category, east_asian_width

    code = ord(letter)
    if code == 0xAD:
        return 1
    if category(letter) in ("Mn", "Me", "Cf") or any(code in jamo for jamo in _JAMO):
        return 0
    return 2 if code in _FLAG_LETTERS or east_asian_width(letter) in "WF" else 1
