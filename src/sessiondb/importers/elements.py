"""The elements of a large JSON array one after the other: an export is never in memory as a whole."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from .archives import UNREADABLE, is_archive, members
from .base import Skipped
from .packed import open_plain

# A longer element is no conversation.
MAX_ELEMENT = 128 * 1024 * 1024
_CHUNK = 1 << 20
_BLANK = " \t\r\n"


def objects_of(path: Path) -> Iterator[dict[str, Any] | Skipped]:
    """The objects in an array, or the one that the file is; what is none comes as `Skipped`."""
    for number, each in enumerate(_elements(path), start=1):
        if isinstance(each, dict | Skipped):
            yield each
        else:
            yield Skipped(path, None, f"element {number} is a JSON {type(each).__name__} where an object belongs")


def _elements(path: Path) -> Iterator[Any]:
    try:
        if is_archive(path):
            for file in members(path):
                yield from _of_file(path, file)
        else:
            with open_plain(path) as plain:
                yield from _of_file(path, plain)
    except UNREADABLE as exc:
        yield Skipped(path, None, f"cannot be read further: {exc}")


def _of_file(path: Path, file: IO[bytes]) -> Iterator[Any]:
    text = _Text(file)
    count = 0
    try:
        if text.sign() != "[":
            yield text.value()
            return
        text.at += 1
        while (sign := text.sign()) != "]":
            if sign == ",":
                text.at += 1
            else:
                yield text.value()
                count += 1
    except (ValueError, RecursionError) as exc:
        why = "nested too deeply" if isinstance(exc, RecursionError) else str(exc)
        yield Skipped(path, None, f"not JSON after {count:,} elements: {why}")


class _Text:
    """A file as text, of which only the part is kept that was not decoded yet."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.text = ""
        self.at = 0
        self.ended = False
        self._words = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._json = json.JSONDecoder(strict=False)

    def sign(self) -> str:
        """The next sign that is no blank. Raises ValueError at the end of the file."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in _BLANK:
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if self.ended:
                raise ValueError("the file ends too early")
            self._more()

    def value(self) -> Any:
        while True:
            try:
                value, end = self._json.raw_decode(self.text, self.at)
                # A number at the end of what was read may go on.
                if end < len(self.text) or self.ended:
                    self.at = end
                    return value
            except ValueError:
                if self.ended:
                    raise
            if len(self.text) - self.at > MAX_ELEMENT:
                raise ValueError(f"an element of more than {MAX_ELEMENT:,} characters")
            self._more()

    def _more(self) -> None:
        # Twice as much each time: what was in vain to decode is decoded again.
        data = self.file.read(max(_CHUNK, len(self.text) - self.at))
        self.ended = not data
        self.text = self.text[self.at :] + self._words.decode(data, self.ended)
        self.at = 0
