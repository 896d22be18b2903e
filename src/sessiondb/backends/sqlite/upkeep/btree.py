"""SQLite's trees: cells, records and overflow chains, each checked before it is believed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .image import Image

TABLE_LEAF, TABLE_INNER, INDEX_LEAF, INDEX_INNER = 0x0D, 0x05, 0x0A, 0x02
_LARGEST_PAYLOAD = 1 << 31
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


class Damaged(ValueError):
    """Bytes that cannot be what they claim to be."""


@dataclass(frozen=True, slots=True)
class Row:
    """A record with its rowid (0 in index trees).

    `text_sound` is False when a text was no UTF-8, `page_sound` when the checksum of its page does not fit.
    """

    rowid: int
    values: tuple[Any, ...]
    text_sound: bool = True
    page_sound: bool = True


@dataclass(frozen=True, slots=True)
class Node:
    """One page of a tree: its rows, its children, and how many cells could not be read."""

    kind: int
    rows: list[Row]
    children: list[int]
    broken: int


def node(image: Image, number: int) -> Node:
    """Read a page as part of a tree; raises Damaged when it is none."""
    page = image.page(number)
    start = 100 if number == 1 else 0
    kind = page[start]
    if kind not in (TABLE_LEAF, TABLE_INNER, INDEX_LEAF, INDEX_INNER):
        raise Damaged(f"page {number} is no tree page")
    inner = kind in (TABLE_INNER, INDEX_INNER)
    (cells,) = struct.unpack_from(">H", page, start + 3)
    pointers = start + (12 if inner else 8)
    if pointers + 2 * cells > image.usable:
        raise Damaged(f"page {number} claims {cells} cells")
    found = Node(kind, [], [], 0)
    sound = image.sound(number)
    broken = 0
    for at in struct.unpack_from(f">{cells}H", page, pointers):
        try:
            _read_cell(image, page, at, kind, found, sound)
        except (Damaged, IndexError, struct.error):
            broken += 1
    if inner:
        found.children.append(struct.unpack_from(">I", page, start + 8)[0])
    return Node(kind, found.rows, found.children, broken)


def _read_cell(image: Image, page: bytes, at: int, kind: int, found: Node, sound: bool) -> None:
    if not 8 <= at < image.usable:
        raise Damaged("a cell outside its page")
    if kind in (TABLE_INNER, INDEX_INNER):
        found.children.append(struct.unpack_from(">I", page, at)[0])
        at += 4
        if kind == TABLE_INNER:
            return
    size, at = varint(page, at)
    rowid = 0
    if kind == TABLE_LEAF:
        rowid, at = varint(page, at)
    row = record(rowid, payload(image, page, at, size, kind == TABLE_LEAF))
    found.rows.append(row if sound else replace(row, page_sound=False))


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A variable-length integer, and where it ends."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    value = value << 8 | data[at + 8]
    return (value - (1 << 64) if value >> 63 else value), at + 9


def payload(image: Image, page: bytes, at: int, size: int, in_table: bool) -> bytes:
    """The bytes of a record, those on overflow pages included."""
    if not 0 < size < _LARGEST_PAYLOAD:
        raise Damaged(f"a record of {size} bytes")
    usable = image.usable
    most = usable - 35 if in_table else (usable - 12) * 64 // 255 - 23
    local = size
    if size > most:
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
    if at + local > usable:
        raise Damaged("a record beyond its page")
    if local == size:
        return page[at : at + local]
    (following,) = struct.unpack_from(">I", page, at + local)
    return page[at : at + local] + b"".join(_overflow(image, following, size - local))


def _overflow(image: Image, number: int, left: int) -> Iterator[bytes]:
    seen: set[int] = set()
    while left > 0:
        if not 1 < number <= image.count or number in seen:
            raise Damaged(f"an overflow chain leads to page {number}")
        seen.add(number)
        page = image.page(number)
        taken = min(left, image.usable - 4)
        yield page[4 : 4 + taken]
        left -= taken
        (number,) = struct.unpack_from(">I", page)
    if number:
        raise Damaged("an overflow chain that does not end")


def record(rowid: int, data: bytes) -> Row:
    """The columns of a record; raises Damaged when the sizes do not add up."""
    header, at = varint(data, 0)
    if not at <= header <= len(data):
        raise Damaged("a record without a header")
    kinds: list[int] = []
    while at < header:
        kind, at = varint(data, at)
        kinds.append(kind)
    values: list[Any] = []
    sound = True
    for kind in kinds:
        value, at, fits = _value(kind, data, at)
        values.append(value)
        sound = sound and fits
    if at != len(data):
        raise Damaged("a record whose columns do not fill it")
    return Row(rowid, tuple(values), sound)


def _value(kind: int, data: bytes, at: int) -> tuple[Any, int, bool]:
    if kind == 0:
        return None, at, True
    if kind in (8, 9):
        return kind - 8, at, True
    if kind in _INTEGER_BYTES:
        end = at + _INTEGER_BYTES[kind]
        return int.from_bytes(data[at:end], "big", signed=True), end, True
    if kind == 7:
        return struct.unpack_from(">d", data, at)[0], at + 8, True
    if kind < 12:
        raise Damaged(f"a column of kind {kind}")
    end = at + (kind - 12) // 2
    if end > len(data):
        raise Damaged("a column beyond its record")
    part = data[at:end]
    if kind % 2 == 0:
        return part, end, True
    try:
        return part.decode(), end, True
    except UnicodeDecodeError:
        return part.decode("utf-8", "replace"), end, False
