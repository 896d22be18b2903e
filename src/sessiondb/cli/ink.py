"""Colour: text that knows how it wants to look. It becomes escape sequences only on a terminal, when it is said.

An `Ink` is a `str` whose text is still unsafe: `output.say` writes its commands out before it paints it.
"""

from __future__ import annotations

import os
import sys

from .terminal import is_terminal

Choice = str  # auto, always, never
_DUMB = "dumb"


class Ink(str):
    """A text with the codes of its style."""

    codes: str

    def __new__(cls, text: object, codes: str) -> Ink:
        made = super().__new__(cls, text)
        made.codes = codes
        return made


class Palette:
    """Whether to paint; decided once per command line."""

    choice: Choice = "auto"
    _decided: bool | None = None

    def choose(self, choice: Choice) -> None:
        self.choice, self._decided = choice, None

    @property
    def on(self) -> bool:
        if self._decided is None:
            self._decided = self._decide()
        return self._decided

    def _decide(self) -> bool:
        if self.choice != "auto":
            return self.choice == "always"
        if os.environ.get("NO_COLOR") or os.environ.get("TERM") == _DUMB:
            return False
        return bool(os.environ.get("FORCE_COLOR")) or is_terminal(sys.stdout)


palette = Palette()


def painted(text: str, codes: str) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m" if text and palette.on else text


def dim(text: object) -> Ink:
    """What is not the news."""
    return Ink(text, "2")


def bold(text: object) -> Ink:
    return Ink(text, "1")


def found(text: object) -> Ink:
    """A match of a search."""
    return Ink(text, "1;33")


def gold(text: object) -> Ink:
    """A person speaks."""
    return Ink(text, "33")


def green(text: object) -> Ink:
    """An agent speaks; all is well."""
    return Ink(text, "32")


def cyan(text: object) -> Ink:
    return Ink(text, "36")


def red(text: object) -> Ink:
    """Something is damaged or goes away."""
    return Ink(text, "31")


def like(model: str, text: str) -> str:
    """Other text in the style of `model`."""
    return Ink(text, model.codes) if isinstance(model, Ink) else text
