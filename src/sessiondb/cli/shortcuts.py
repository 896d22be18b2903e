"""`sessiondb -c [NAME]` and `sessiondb -r NAME`: the resume command, for those who type it every day."""

from __future__ import annotations

from collections.abc import Sequence

_SHORT = ("-c", "--continue", "-r", "--resume")
# Options before them that take the next word.
_VALUED = ("--db", "--color")


def spelled_out(words: Sequence[str]) -> list[str]:
    """The words of a command line, `-c` and `-r` after the name of the command they stand for."""
    words = list(words)
    at = 0
    while at < len(words) and words[at].startswith("-"):
        option, given, value = _split(words[at])
        if option in _SHORT:
            return [*words[:at], "resume", option, *([value] if given else []), *words[at + 1 :]]
        at += 2 if option in _VALUED and not given else 1
    return words


def _split(word: str) -> tuple[str, str, str]:
    """`--resume=NAME` and `-rNAME`: the option, a mark that it has a value, the value."""
    if word[:2] in _SHORT and len(word) > 2:
        return word[:2], "=", word[2:].removeprefix("=")
    return word.partition("=")
