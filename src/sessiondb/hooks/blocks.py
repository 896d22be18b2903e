"""A block of lines between two marks at the end of a text file: put there, found again, taken out."""

from __future__ import annotations

BEGIN, END = "# >>> sessiondb >>>", "# <<< sessiondb <<<"


def with_block(text: str, lines: str) -> str:
    """The text with this block, in the place of an older one or at its end."""
    bare = without_block(text)
    between = "" if not bare or bare.endswith("\n") else "\n"
    return f"{bare}{between}{BEGIN}\n{lines.rstrip()}\n{END}\n"


def without_block(text: str) -> str:
    begin = text.find(BEGIN)
    end = text.find(END, begin)
    if begin < 0 or end < 0:
        return text
    return text[:begin] + text[end + len(END) :].removeprefix("\n")
