"""A line as bash reads it, up to the cursor, and words as bash writes them; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Where readline begins a new word, though bash does not (COMP_WORDBREAKS).
_BREAKS = ":=@"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,+%")


@dataclass
class Line:
    """The words before the cursor; `current` is the one being typed, `quote` the one that is open in it."""

    before: list[str]
    current: str = ""
    quote: str = ""
    # How much of `current` readline leaves alone.
    kept: int = 0


def parsed(text: str) -> Line:
    line, begun, escaped = Line([]), False, False
    for letter in text:
        if escaped:
            line.current, escaped, begun = line.current + letter, False, True
        elif letter == "\\" and line.quote != "'":
            escaped = begun = True
        elif line.quote:
            line.quote, line.current = (
                ("", line.current) if letter == line.quote else (line.quote, line.current + letter)
            )
        elif letter in "'\"":
            line.quote, begun = letter, True
        elif letter.isspace():
            if begun:
                line.before.append(line.current)
            line.current, line.kept, begun = "", 0, False
        else:
            line.current, begun = line.current + letter, True
            line.kept = len(line.current) if letter in _BREAKS else line.kept
    if line.quote:
        line.kept = 0
    return line


def reply(line: Line, values: Sequence[str]) -> list[str]:
    """What readline shall put in the place of the current word."""
    head = line.current[: line.kept]
    return [written(value[line.kept :] if value.startswith(head) else value, line.quote) for value in values]


def written(value: str, quote: str = "") -> str:
    """The value so that bash reads it back; inside an open quote it is readline that closes it."""
    if quote == "'":
        return value.replace("'", "'\\''")
    if quote == '"':
        return "".join("\\" + letter if letter in '"$`\\' else letter for letter in value)
    return "".join(letter if letter in _PLAIN or not letter.isascii() else "\\" + letter for letter in value)
