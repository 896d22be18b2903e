"""What a person types: lines with history and completion, several of them for one message.

A backslash at the end of a line goes on in the next; pasted text arrives whole, where the terminal marks it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from . import ink
from .terminal import is_terminal

if TYPE_CHECKING:
    from pathlib import Path

PROMPT, MORE = "● ", "… "
_LONGEST_HISTORY = 1000


class Keyboard:
    """`read` answers one message, None at the end of the input; Ctrl-C raises KeyboardInterrupt."""

    def __init__(self, history: Path, candidates: Callable[[str], Sequence[str]]) -> None:
        self.interactive = is_terminal(sys.stdin) and is_terminal(sys.stdout)
        self._history, self._candidates = history, candidates
        if self.interactive:
            self._prepare()

    def read(self) -> str | None:
        lines: list[str] = []
        while (line := self._line(MORE if lines else PROMPT)) is not None and line.endswith("\\"):
            lines.append(line[:-1])
        message = "\n".join(lines if line is None else [*lines, line])
        if self.interactive and message.strip():
            self._remember(message)
        return None if line is None and not message else message

    def _line(self, prompt: str) -> str | None:
        if not self.interactive:
            line = sys.stdin.readline()
            return line.removesuffix("\n") if line else None
        try:
            return input(_coloured(prompt))
        except EOFError:
            return None

    def _prepare(self) -> None:
        import readline

        readline.set_completer_delims("\n")
        readline.set_completer(self._completed)
        readline.parse_and_bind("tab: complete")
        readline.parse_and_bind("set enable-bracketed-paste on")
        # A message of several lines is remembered as one.
        readline.set_auto_history(False)
        for message in _kept(self._history):
            readline.add_history(message)

    def _remember(self, message: str) -> None:
        """For now and the next time, at once: nobody knows how this time ends."""
        import readline

        readline.add_history(message)
        # What was typed may be private: nobody else reads it.
        descriptor = os.open(self._history, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(_written(message) + "\n")

    def _completed(self, text: str, number: int) -> str | None:
        found = [each for each in self._candidates(text) if each.startswith(text)]
        return found[number] if number < len(found) else None


def _kept(history: Path) -> list[str]:
    """What was typed before, the last thousand messages; a file that grew beyond twice as many is made shorter."""
    if not history.exists():
        return []
    lines = history.read_text("utf-8", "surrogateescape").splitlines()
    if len(lines) > 2 * _LONGEST_HISTORY:
        draft = history.with_suffix(".tmp")
        draft.touch(0o600)
        draft.write_text("\n".join(lines[-_LONGEST_HISTORY:]) + "\n", "utf-8", "surrogateescape")
        draft.replace(history)
    return [_read(line) for line in lines[-_LONGEST_HISTORY:]]


def _written(message: str) -> str:
    """On one line: as it is, or as JSON."""
    plain = len(message.splitlines()) == 1 and not message.startswith('"')
    return message if plain else json.dumps(message)


def _read(line: str) -> str:
    try:
        return str(json.loads(line)) if line.startswith('"') else line
    except ValueError:
        return line


def _coloured(prompt: str) -> str:
    """The escape sequences between marks, so that readline does not count them."""
    if not ink.palette.on:
        return prompt
    before, _, after = ink.painted("x", ink.gold("").codes).partition("x")
    return f"\001{before}\002{prompt.rstrip()}\001{after}\002 "
