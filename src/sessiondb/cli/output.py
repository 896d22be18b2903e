"""Saying things: results to stdout, complaints to stderr, numbers and times as people write them."""

from __future__ import annotations

import sys
import time

from .ink import Ink, painted
from .text import line, safe

# What we draw with, for a locale that lacks it; other letters are written as escapes there.
_PLAIN = str.maketrans(
    {"─": "-", "…": "...", "—": "-", "·": "-", "●": "*", "◆": "*", "⚙": "*", "○": "*", "≈": "~", "←": "<"}
    | {"├": "|", "└": "`", "│": "|", "┆": "|", "█": "#", "░": "."}
)
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def say(*pieces: str, end: str = "\n") -> None:
    """Print the pieces one after the other; nothing in them can command the terminal, and an `Ink` gets its style."""
    put("".join(map(rendered, pieces)) + end)


def put(text: str) -> None:
    """Print what is safe already, in the letters that the locale has."""
    print(text if text.isascii() or _speaks_unicode() else text.translate(_PLAIN), end="")


def _speaks_unicode() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")


def rendered(piece: str) -> str:
    return painted(safe(piece), piece.codes) if isinstance(piece, Ink) else safe(piece)


def complain(what: object) -> None:
    """One sentence on stderr."""
    print(f"sessiondb: {line(what)}", file=sys.stderr)


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
