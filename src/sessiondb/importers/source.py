"""A file to be imported: its complete lines from where the last import ended, or the whole of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import msgspec

from .. import registry
from ..errors import ImportProblem
from .archives import UNREADABLE
from .base import Record, Skipped
from .elements import objects_of
from .packed import open_plain, plain_name

# A longer line is no message; reading it whole would cost several times its size in memory.
MAX_LINE = 64 * 1024 * 1024
# Larger documents must come in a format that can be read in parts.
MAX_DOCUMENT = 256 * 1024 * 1024
_UTF8_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 20


class Line(NamedTuple):
    number: int
    text: bytes


class ForeignTables(Protocol):
    """A SQLite file of another program, read without changing it or anything beside it."""

    def tables(self) -> frozenset[str]: ...

    def columns(self, table: str) -> tuple[str, ...]: ...

    def rows(
        self,
        table: str,
        *,
        equal: dict[str, Any] | None = None,
        starting: dict[str, str] | None = None,
        order: tuple[str, ...] = (),
    ) -> Iterator[dict[str, Any]]: ...


class Source:
    """What a parser reads from."""

    def __init__(self, path: Path, *, offset: int = 0, line: int = 0, carry: dict[str, Any] | None = None) -> None:
        self.file = path
        # The name that tells format and session; of a compressed file the one that it had.
        self.path = plain_name(path)
        # Where reading begins: 0, or the end of the last complete line of the import before.
        self.offset = offset
        self.carry: dict[str, Any] = {} if carry is None else carry
        # Where reading is: the end and the number of the last line that the parser is done with.
        self.done = offset
        self.line = line
        self.has_lines = False
        # Called before each line, when the parser is done with all before it.
        self.on_line: Callable[[Source], None] | None = None

    @property
    def is_tail(self) -> bool:
        return self.offset > 0

    def lines(self) -> Iterator[Line | Skipped]:
        """Complete lines without their end, empty ones left out; one that is still being written waits."""
        self.has_lines = True
        with open_plain(self.file) as file:
            _advance(file, self.offset)
            while True:
                if self.on_line is not None:
                    self.on_line(self)
                start = self.done
                data = file.readline(MAX_LINE + 1)
                if not data:
                    return
                if len(data) > MAX_LINE and not data.endswith(b"\n"):
                    length = len(data) + _rest_of_line(file)
                    yield Skipped(
                        self.file, self.line + 1, f"a line of {length:,} bytes; at most {MAX_LINE:,} are read"
                    )
                    self._advance(length)
                    continue
                text = data.removeprefix(_UTF8_MARK) if start == 0 else data
                complete = data.endswith(b"\n")
                text = text.strip()
                if text and not complete and not _is_whole(text):
                    return
                if text:
                    yield Line(self.line + 1, text)
                self._advance(len(data))

    def _advance(self, length: int) -> None:
        self.done += length
        self.line += 1

    def objects(self) -> Iterator[tuple[int, dict[str, Any]] | Skipped]:
        """Line number and JSON object of every complete line; what is none comes as `Skipped`."""
        for line in self.lines():
            if isinstance(line, Skipped):
                yield line
            else:
                yield from self._objects_of(line)

    def each(self, read: Callable[[dict[str, Any]], Iterator[Record]]) -> Iterator[Record]:
        """What `read` makes of the object of every complete line; what is none is passed on."""
        for found in self.objects():
            if isinstance(found, Skipped):
                yield found
            else:
                yield from read(found[1])

    def _objects_of(self, line: Line) -> Iterator[tuple[int, dict[str, Any]] | Skipped]:
        try:
            values, note = decode(line.text)
        except ValueError as exc:
            yield Skipped(self.file, line.number, f"not JSON: {exc}")
            return
        if note:
            yield Skipped(self.file, line.number, note)
        for value in values:
            if isinstance(value, dict):
                yield line.number, value
            else:
                yield Skipped(self.file, line.number, f"a JSON {type(value).__name__} where an object belongs")

    def document(self) -> Any:
        """The whole file as one JSON value. Raises ImportProblem."""
        with open_plain(self.file) as file:
            data = file.read(MAX_DOCUMENT + 1)
        if len(data) > MAX_DOCUMENT:
            raise ImportProblem(f"{self.file} has more than {MAX_DOCUMENT:,} bytes in one JSON value")
        try:
            values, _ = decode(data.removeprefix(_UTF8_MARK))
        except ValueError as exc:
            raise ImportProblem(f"{self.file} is not JSON: {exc}") from exc
        if len(values) != 1:
            raise ImportProblem(f"{self.file} holds {len(values)} JSON values where one belongs")
        return values[0]

    def elements(self) -> Iterator[dict[str, Any] | Skipped]:
        """The objects of a JSON array, of an export in a ZIP file too, decoded one after the other."""
        return objects_of(self.file)

    def tables(self) -> AbstractContextManager[ForeignTables]:
        """The file as a SQLite database, opened so that nothing in its directory changes."""
        opened: AbstractContextManager[ForeignTables] = registry.load("foreign", "sqlite")(self.file)
        return opened


def decode(text: bytes) -> tuple[list[Any], str | None]:
    """The JSON values of a line, usually one, and what had to be mended. Raises ValueError."""
    try:
        return [msgspec.json.decode(text)], None
    except (ValueError, RecursionError):
        # Lone surrogates, NaN, bytes that are no UTF-8, two objects on one line: the slow way takes them.
        return _decode_slowly(text)


def _decode_slowly(text: bytes) -> tuple[list[Any], str | None]:
    note = None
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError as exc:
        words = text.decode("utf-8", "replace")
        note = f"bytes that are not UTF-8 were replaced ({exc.reason} at {exc.start})"
    decoder = json.JSONDecoder(strict=False)
    values: list[Any] = []
    position = 0
    try:
        while position < len(words):
            value, position = decoder.raw_decode(words, position)
            values.append(value)
            while position < len(words) and words[position] in " \t\r\n":
                position += 1
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return values, note


def _is_whole(text: bytes) -> bool:
    """Whether a last line without an end is complete: no beginning of a JSON object is one itself."""
    try:
        values, _ = decode(text)
    except ValueError:
        return False
    return all(isinstance(value, dict) for value in values)


def _advance(file: BinaryIO, offset: int) -> None:
    if offset and file.seekable():
        file.seek(offset)
        return
    while offset > 0:
        read = len(file.read(min(offset, _CHUNK)))
        if not read:
            return
        offset -= read


def _rest_of_line(file: BinaryIO) -> int:
    length = 0
    while part := file.readline(_CHUNK):
        length += len(part)
        if part.endswith(b"\n"):
            break
    return length


def head_of(path: Path, length: int = 64 * 1024) -> bytes:
    """The first bytes, decompressed; empty when they cannot be read."""
    try:
        with open_plain(path) as file:
            return file.read(length)
    except UNREADABLE:
        return b""


def first_objects(head: bytes, count: int = 20) -> list[dict[str, Any]]:
    """The JSON objects on the first complete lines of a head, to tell formats apart."""
    found: list[dict[str, Any]] = []
    for line in head.removeprefix(_UTF8_MARK).split(b"\n")[:count]:
        try:
            values, _ = decode(line.strip())
        except ValueError:
            continue
        found += [value for value in values if isinstance(value, dict)]
    return found
