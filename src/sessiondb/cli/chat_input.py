"""What a person types: lines with history and completion, several of them for one message.

A backslash at the end of a line goes on in the next; pasted text arrives whole, where the terminal marks it.
"""

from __future__ import annotations

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
        while True:
            line = self._line(MORE if lines else PROMPT)
            if line is None:
                return "\n".join(lines) or None
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])

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
        readline.set_history_length(_LONGEST_HISTORY)
        if self._history.exists():
            readline.read_history_file(self._history)

    def _completed(self, text: str, number: int) -> str | None:
        found = [each for each in self._candidates(text) if each.startswith(text)]
        return found[number] if number < len(found) else None

    def close(self) -> None:
        """Keep what was typed for the next time."""
        if not self.interactive:
            return
        import readline

        # What was typed may be private: nobody else reads it.
        os.close(os.open(self._history, os.O_WRONLY | os.O_CREAT, 0o600))
        readline.write_history_file(self._history)


def _coloured(prompt: str) -> str:
    """The escape sequences between marks, so that readline does not count them."""
    if not ink.palette.on:
        return prompt
    before, _, after = ink.painted("x", ink.gold("").codes).partition("x")
    return f"\001{before}\002{prompt.rstrip()}\001{after}\002 "
