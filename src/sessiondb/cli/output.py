"""How things look: times, widths, sizes, JSON, and stored text that cannot command the terminal."""

from __future__ import annotations

import os
import re
import sys
import time
from io import TextIOWrapper
from typing import Any, TextIO

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
# C0 but tab and line feed, DEL, C1, marks that turn the direction of writing, lone surrogates.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def safe(text: object) -> str:
    """The text with every character that a terminal would obey written out, such as \\x1b."""
    return _COMMANDS.sub(_escaped, str(text).replace("\r\n", "\n"))


def line(text: object) -> str:
    """The text on one line."""
    return safe(" ".join(str(text).split()))


def say(text: str = "") -> None:
    print(safe(text))


def complain(what: object) -> None:
    """One sentence on stderr."""
    print(f"sessiondb: {line(what)}", file=sys.stderr)


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """JSON with letters of all scripts as they are; what a terminal would obey is escaped, as JSON allows."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say_json(value: Any) -> None:
    print(to_json(value), file=json_stream())


def json_stream() -> TextIO:
    """The standard output, in UTF-8 whatever the locale says, as JSON is."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


def ago(then: float | None, now: float) -> str:
    """How long ago, as people say it."""
    if then is None:
        return "?"
    seconds = now - then
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{int(seconds // _MINUTE)}m ago"
    if seconds < _DAY:
        return f"{int(seconds // _HOUR)}h ago"
    if seconds < 2 * _DAY:
        return "yesterday"
    if seconds < 7 * _DAY:
        return f"{int(seconds // _DAY)}d ago"
    return time.strftime("%Y-%m-%d", time.localtime(then))


def moment(then: float) -> str:
    """A local time to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(then))


def size(count: int) -> str:
    """Bytes, in the largest unit that leaves a number above one."""
    if count < 1024:
        return f"{count} bytes"
    power = min((count.bit_length() - 1) // 10, 4)
    return f"{count / 1024**power:.1f} {('KB', 'MB', 'GB', 'TB')[power - 1]}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def width(text: str) -> int:
    """Columns on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def fit(text: object, columns: int) -> str:
    """One line, cut with "…" and filled up to exactly so many columns, one of them blank at the end."""
    shown = line(text)
    if width(shown) >= columns:
        while width(shown) > columns - 2:
            shown = shown[:-1]
        shown += "…"
    return shown + " " * (columns - width(shown))


def is_terminal(stream: Any) -> bool:
    try:
        return os.isatty(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return False
