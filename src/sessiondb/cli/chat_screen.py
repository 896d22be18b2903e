"""An answer as it comes, on the screen; nothing in it commands the terminal."""

from __future__ import annotations

import sys

from ..chat.talk import Reply
from . import ink, output, terminal
from .conversation import mark
from .flowing import Flow
from .text import cut, line, safe, wrapped

_ENDS = {
    "interrupted": "stopped; what was said is kept",
    "length": "cut off: the model's limit of one answer",
    "max_turns": "stopped: too many requests for one answer",
}


class Screen:
    """A listener of the agent loop; also used for what commands answer."""

    def __init__(self) -> None:
        self._in_text = False
        self._flow = Flow()

    def text(self, piece: str) -> None:
        columns = terminal.columns()
        if not self._in_text:
            piece = piece.lstrip("\n")
            if not piece:
                return
            if columns is not None:
                output.say(mark("assistant"), " ", end="")
                self._flow = Flow(2)
            self._in_text = True
        output.put(safe(piece) if columns is None else self._flow.add(safe(piece), columns))
        sys.stdout.flush()

    def tool_begins(self, name: str, arguments: str) -> None:
        self._aside(f"⚙ {name} {line(arguments)}")

    def tool_ends(self, name: str, result: str) -> None:
        self._aside(f"→ {output.count(len(result), 'character')}")

    def notice(self, sentence: str) -> None:
        self._aside(sentence)

    def told(self, text: str) -> None:
        columns = terminal.columns()
        for each in text.split("\n") if columns is None else wrapped(safe(text), max(20, columns - 1)):
            output.say(each)

    def ended(self, reply: Reply) -> None:
        self._end_line()
        if reply.problem is not None and reply.finish == "error" and terminal.is_terminal(sys.stdout):
            output.complain(f"{reply.problem}; nothing is lost, /retry asks again")
        elif reply.finish in _ENDS:
            self._aside(f"[{_ENDS[reply.finish]}]")
        if terminal.is_terminal(sys.stdout):
            output.say()
        sys.stdout.flush()

    def _aside(self, text: str) -> None:
        """Beside the answer: dim, one line; elsewhere than on a terminal only the answer is wanted."""
        self._end_line()
        if terminal.is_terminal(sys.stdout):
            output.say(ink.dim(cut(line(text), max(20, (terminal.columns() or 80) - 1))))
            sys.stdout.flush()

    def _end_line(self) -> None:
        if self._in_text:
            output.say()
        self._in_text = False
