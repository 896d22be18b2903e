"""Text that comes in pieces, broken between words; pure.

Each piece is shown at once. A word that reaches the edge is taken back and begun on the next line; one that is longer
than a line is left to the terminal, so that it can be copied whole, and so is code between fences. Ideographs may stand
on either side of a break; what closes stays with the sign before it, what opens with the one behind.
"""

from __future__ import annotations

from .text import width

_FENCES = ("```", "~~~")
_TAB = 4


class Flow:
    """Where an answer has come to on the screen. `add` takes text in which nothing commands a terminal."""

    def __init__(self, column: int = 0) -> None:
        self._start, self._word = column, ""
        self._line = ""
        self._in_code = False

    def add(self, piece: str, columns: int) -> str:
        """What to print for a piece on a terminal of so many columns; \\b goes back over what stands there."""
        return "".join([self._added(letter, columns) for letter in piece])

    def _added(self, letter: str, columns: int) -> str:
        if letter == "\n":
            return self._ended()
        if len(self._line) < 16:
            self._line += letter
        if self._in_code:
            return letter
        if letter in " \t":
            return self._parted(letter, columns)
        if _breaks(self._word[-1:], letter):
            self._settle(columns)
        # The last column stays free: no terminal goes back from beyond it.
        if self._start and self._start + width(self._word + letter) > columns - 1:
            return self._moved(letter)
        self._word += letter
        return letter

    def _ended(self) -> str:
        if self._line.lstrip().startswith(_FENCES):
            self._in_code = not self._in_code
        self._start, self._word, self._line = 0, "", ""
        return "\n"

    def _parted(self, letter: str, columns: int) -> str:
        self._settle(columns)
        blanks = _TAB - self._start % _TAB if letter == "\t" else 1
        if self._start + blanks > columns - 1:
            self._start = 0
            return "\n"
        self._start += blanks
        return " " * blanks

    def _settle(self, columns: int) -> None:
        """The word is whole. One longer than a line went on where the terminal broke it."""
        end = self._start + width(self._word)
        self._start, self._word = end % columns if end >= columns else end, ""

    def _moved(self, letter: str) -> str:
        back = width(self._word)
        self._start, self._word = 0, self._word + letter
        return "\b" * back + " " * back + "\n" + self._word


def _breaks(before: str, letter: str) -> bool:
    """Whether a line may begin with a letter that no blank parts from the one before."""
    return _kind(letter) in ("Lo", *_OPENING) and _kind(before) not in _OPENING


_OPENING = ("Ps", "Pi")


def _kind(letter: str) -> str | None:
    """The category of a sign two columns wide."""
    if letter.isascii() or width(letter) != 2:
        return None
    from unicodedata import category

    return category(letter)
