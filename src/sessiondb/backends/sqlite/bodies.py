"""Large texts that come again and again, kept once: a column holds a reference, `bodies` the text.

A reference is U+FDD0, '#' and the hash of the text. No stored text begins like that, because the escape layer writes
U+FDD0 with four hex digits after it. What is read through a transaction has its texts again; triggers drop a text with
the last reference to it. The store itself says how it keeps them, so that all its processes do the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import filterfalse
from operator import itemgetter, methodcaller
from typing import Any

import apsw

from ... import errors
from ...sql.driver import Row
from ...sql.escape import MARK

try:
    # Past hashlib, which loads OpenSSL for what is not used here.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

LEAD, BEYOND = f"{MARK}#", f"{MARK}$"
# Beyond these, texts are kept in `bodies`.
LARGE_BYTES = 4096
# No text with fewer characters has more bytes.
SMALL = LARGE_BYTES // 4
OFF, PLAIN, ZLIB = "off", "plain", "zlib"
MODES = (PLAIN, ZLIB, OFF)
COLUMNS = ("content", "system_prompt")
# How parameters that set these columns are called.
NAMES = (*COLUMNS, "new_content", "new_system_prompt")
# The fastest: a repeated text is compressed once, a new one on somebody's append.
_LEVEL = 1
_MOST_STATEMENTS = 1000

MODE = "SELECT value FROM meta WHERE name = 'bodies'"
KNOWN = "SELECT 1 FROM bodies WHERE reference = ?"
ADD = "INSERT INTO bodies (reference, codec, size, data) VALUES (?, ?, ?, ?)"
GET = "SELECT codec, data FROM bodies WHERE reference = ?"

_is_ascii = methodcaller("isascii")
_places: dict[str, tuple[int, ...]] = {}


# --- in ---


def is_large(text: str) -> bool:
    return len(text) > LARGE_BYTES or (not text.isascii() and len(text.encode()) > LARGE_BYTES)


def mode(connection: apsw.Connection) -> str:
    found = connection.execute(MODE).fetchall()
    return str(found[0][0]) if found else OFF


def shared(connection: apsw.Connection, bindings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same bindings, large texts replaced by references to their rows; in the caller's transaction."""
    for name in NAMES:
        text = bindings.get(name)
        if text.__class__ is str and len(text) > SMALL and is_large(text):
            codec = mode(connection)
            if codec not in (PLAIN, ZLIB):
                return bindings
            bindings = {**bindings, name: _kept(connection, text, codec)}
    return bindings


def has_large(bindings: Mapping[str, Any]) -> bool:
    """A first look that costs next to nothing: most texts are short."""
    for name in NAMES:
        text = bindings.get(name)
        if text.__class__ is str and len(text) > SMALL:
            return True
    return False


def reference(data: bytes) -> str:
    return f"{LEAD}{blake2b(data, digest_size=24).hexdigest()}"


def _kept(connection: apsw.Connection, text: str, codec: str) -> str:
    data = text.encode()
    name = reference(data)
    if not connection.execute(KNOWN, (name,)).fetchall():
        connection.execute(ADD, (name, codec, len(data), packed(text, codec)))
    return name


def packed(text: str, codec: str) -> str | bytes:
    """As text, which any program can read through the views, or compressed."""
    if codec != ZLIB:
        return text
    import zlib

    return zlib.compress(text.encode(), _LEVEL)


# --- out ---


def places(sql: str, cursor: apsw.Cursor) -> tuple[int, ...]:
    """Which columns of an answer may hold references; looked up once for every statement."""
    found: tuple[int, ...] = ()
    if any(name in sql for name in COLUMNS):
        try:
            names = [column[0] for column in cursor.get_description()]
        except apsw.ExecutionCompleteError:
            # No rows, and no names: the next time.
            return ()
        found = tuple(place for place, name in enumerate(names) if name in COLUMNS)
    if len(_places) > _MOST_STATEMENTS:
        _places.clear()
    _places[sql] = found
    return found


known_places = _places.get


def is_reference(value: object) -> bool:
    return isinstance(value, str) and value.startswith(LEAD)


def resolved(connection: apsw.Connection, rows: list[Row], at: Sequence[int]) -> list[Row]:
    """The same rows, with texts instead of references."""
    for place in at:
        # Without a step of the interpreter for every row: most are ASCII, and few others are references.
        column = filter(None, map(itemgetter(place), rows))
        if any(value[:2] == LEAD for value in filterfalse(_is_ascii, column)):
            _resolve(connection, rows, place)
    return rows


def _resolve(connection: apsw.Connection, rows: list[Row], place: int) -> None:
    texts: dict[str, str] = {}
    for number, row in enumerate(rows):
        name = row[place]
        if is_reference(name):
            text = texts.get(name)
            if text is None:
                text = texts[name] = body(connection, name)
            rows[number] = (*row[:place], text, *row[place + 1 :])


def body(connection: apsw.Connection, name: str) -> str:
    """The text of a reference; raises Corrupt when it is not there or cannot be read."""
    try:
        found: list[Row] = connection.execute(GET, (name,)).fetchall()
        if found:
            return text_of(*found[0])
    except ValueError as exc:
        raise errors.Corrupt(
            f"a large text in {connection.filename} is damaged; `sessiondb doctor` tells what is left"
        ) from exc
    raise errors.Corrupt(f"a large text in {connection.filename} is missing; `sessiondb doctor` tells what is left")


def text_of(codec: object, data: object) -> str:
    """The text of a row of `bodies`; raises ValueError when it cannot be made out."""
    if isinstance(data, str):
        return data
    if codec not in (PLAIN, ZLIB) or not isinstance(data, bytes):
        raise ValueError(f"unknown codec {codec!r}")
    return (_unpacked(data) if codec == ZLIB else data).decode()


def _unpacked(data: bytes) -> bytes:
    import zlib

    try:
        return zlib.decompress(data)
    except zlib.error as exc:
        raise ValueError(str(exc)) from exc


def put_back(connection: apsw.Connection, row: Row, at: Sequence[int]) -> Row:
    """A row with its texts where they can be read; a reference without a text stays, and fits no term."""
    try:
        return resolved(connection, [row], at)[0]
    except errors.Corrupt:
        return row
