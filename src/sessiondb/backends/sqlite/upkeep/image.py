"""A data file with what its WAL adds, page by page, as bytes: no SQLite, no lock, nothing written.

The header may be gone: page size, reserved bytes and the pointer map are then told by the pages themselves.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from . import wal

MAGIC = b"SQLite format 3\0"
FREE = 2
_LOCK_BYTE = 0x40000000
_TREE_TYPES = (0x02, 0x05, 0x0A, 0x0D)


class Image:
    """Pages by number, counted from 1."""

    def __init__(self, descriptor: int, log_descriptor: int | None, log: wal.Log | None) -> None:
        self._descriptor = descriptor
        self._log_descriptor = log_descriptor
        self._overlay: dict[int, int] = {}
        size_after_log = 0
        if log is not None:
            self._overlay, size_after_log = log.pages(through_breaks=True)
        header = os.pread(descriptor, 100, 0)
        self.page_size = _page_size(header) or (log.page_size if log and log.header_sound else 0) or 4096
        header = self._raw(1)[:100]
        self.header_sound = header[:16] == MAGIC and _page_size(header) == self.page_size
        file_pages = -(-os.fstat(descriptor).st_size // self.page_size)
        self.count = size_after_log or file_pages
        self.reserved = header[20] if self.header_sound else self._guessed_reserve()
        self.usable = self.page_size - self.reserved
        self._has_map = struct.unpack_from(">I", header, 52)[0] != 0 if self.header_sound else self._looks_mapped()
        self._first_free = struct.unpack_from(">I", header, 32)[0] if self.header_sound else 0

    def page(self, number: int) -> bytes:
        """The content of a page, padded with zeros where the file ends early."""
        return self._raw(number)

    def _raw(self, number: int) -> bytes:
        size = self.page_size
        at = self._overlay.get(number)
        if at is not None and self._log_descriptor is not None:
            return os.pread(self._log_descriptor, size, at).ljust(size, b"\0")
        return os.pread(self._descriptor, size, (number - 1) * size).ljust(size, b"\0")

    def stamps(self) -> tuple[int, int]:
        """(user version, application id) by the header; zeros without one."""
        if not self.header_sound:
            return 0, 0
        return struct.unpack_from(">I", self.page(1), 60)[0], struct.unpack_from(">I", self.page(1), 68)[0]

    def sound(self, number: int) -> bool:
        """Whether the page's checksum fits; True where there are none."""
        return self.reserved != 8 or checksum_fits(self.page(number))

    # --- what a page is for ---

    def is_special(self, number: int) -> bool:
        """A page of the pointer map, or the one that only carries locks."""
        return number == _LOCK_BYTE // self.page_size + 1 or (self._has_map and self._map_page(number) == number)

    def _map_page(self, number: int) -> int:
        group = self.usable // 5 + 1
        return (number - 2) // group * group + 2

    def mapped(self, number: int) -> tuple[int, int] | None:
        """(kind, parent) of a page by the pointer map; None where it does not tell."""
        if not self._has_map or number < 3:
            return None
        at = self._map_page(number)
        if at == number:
            return None
        kind, parent = struct.unpack_from(">BI", self.page(at), 5 * (number - at - 1))
        return (kind, parent) if 1 <= kind <= 5 else None

    def free_pages(self) -> set[int]:
        """The pages on the free list, as far as it can be followed."""
        found: set[int] = set()
        trunk = self._first_free
        while 0 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self.page(trunk)
            following, leaves = struct.unpack_from(">2I", page)
            leaves = min(leaves, self.usable // 4 - 2)
            found.update(struct.unpack_from(f">{leaves}I", page, 8))
            trunk = following
        return found

    # --- without a header ---

    def _sample(self) -> Iterator[bytes]:
        return (self.page(number) for number in range(2, min(self.count, 200) + 1))

    def _guessed_reserve(self) -> int:
        trees = [page for page in self._sample() if page[0] in _TREE_TYPES]
        votes = Counter(checksum_fits(page) for page in trees)
        return 8 if votes[True] > votes[False] else 0

    def _looks_mapped(self) -> bool:
        if self.count < 3:
            return False
        entries = [self.page(2)[at] for at in range(0, 5 * min(self.count - 2, 20), 5)]
        return sum(1 <= kind <= 5 for kind in entries) > len(entries) // 2


def _page_size(header: bytes) -> int:
    """The page size that a header names; 0 when it cannot be one."""
    if len(header) < 100 or header[:16] != MAGIC:
        return 0
    (size,) = struct.unpack_from(">H", header, 16)
    size = 65536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else 0


def checksum_fits(page: bytes) -> bool:
    """Whether the last eight bytes are the checksum of the rest; a page of zeros has none."""
    first = second = 0
    words = struct.unpack(f"<{len(page) // 4}I", page)
    for left, right in zip(words[:-2:2], words[1:-2:2], strict=True):
        first = (first + left + second) & 0xFFFFFFFF
        second = (second + right + first) & 0xFFFFFFFF
    return (first, second) == words[-2:] and any(page)


@contextmanager
def opened(path: str, *, with_log: bool = True) -> Iterator[Image]:
    """The image of a store that no one has open: closing the file would drop the locks of this process."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    log_descriptor = None
    try:
        size = _page_size(os.pread(descriptor, 100, 0)) or None
        log = wal.read(path + "-wal", size) if with_log else None
        if log is not None:
            log_descriptor = os.open(path + "-wal", os.O_RDONLY | os.O_CLOEXEC)
        yield Image(descriptor, log_descriptor, log)
    finally:
        os.close(descriptor)
        if log_descriptor is not None:
            os.close(log_descriptor)
