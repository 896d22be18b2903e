"""The WAL and its index, read as bytes: how far they hold together, and which pages they bring.

Every frame carries the salts of its WAL and a checksum that goes on from the frame before. A frame that does not fit
ends the WAL for SQLite, whatever comes after it; here the chain is taken up again from the checksum that the broken
frame carries, so that one damaged frame costs one frame.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = (0x377F0682, 0x377F0683)
_SHM_HEADER = 48

Sums = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Frame:
    """A page as written; `size` is the number of pages of the file after the commit, 0 within a transaction.

    `sound`: its checksum fits. `usable`: it fits, or what it would have to fit to is lost.
    """

    page: int
    size: int
    offset: int
    sound: bool
    usable: bool


@dataclass(frozen=True, slots=True)
class Log:
    """A WAL: `frames` of the current generation in order; `sound` up to where SQLite reads it."""

    page_size: int
    salts: Sums
    header_sound: bool
    frames: tuple[Frame, ...]

    @property
    def readable(self) -> int:
        """Frames up to the last commit that SQLite sees."""
        last = 0
        if not self.header_sound:
            return 0
        for number, frame in enumerate(self.frames, start=1):
            if not frame.sound:
                break
            last = number if frame.size else last
        return last

    @property
    def broken_at(self) -> int | None:
        """The number of the first frame that does not fit, None when all do."""
        return next((number for number, frame in enumerate(self.frames, start=1) if not frame.sound), None)

    def pages(self, *, through_breaks: bool) -> tuple[dict[int, int], int]:
        """(page -> offset of its newest content, number of pages after the last commit)."""
        newest: dict[int, int] = {}
        pending: dict[int, int] = {}
        size = 0
        for frame in self.frames:
            if not (frame.usable if through_breaks else frame.sound):
                if not through_breaks:
                    break
                continue
            pending[frame.page] = frame.offset
            if frame.size:
                newest |= pending
                pending.clear()
                size = frame.size
        return newest, size


def read(path: str, page_size: int | None = None) -> Log | None:
    """The WAL at this path; None when there is none or it is empty."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    return _parsed(data, page_size) if data else None


def _parsed(data: bytes, page_size: int | None) -> Log:
    header = _HEADER.unpack(data[:32].ljust(32, b"\0"))
    order = ">" if header[0] == _MAGIC[1] else "<"
    sound = header[0] in _MAGIC and _sums(data[:24], (0, 0), order) == header[6:8]
    size = header[2] if sound else (page_size or 4096)
    salts = header[4:6] if sound else _usual_salts(data)
    start = header[6:8] if sound else None
    return Log(size, salts, sound, tuple(_frames(data, size, salts, start, order)))


def _usual_salts(data: bytes) -> Sums:
    """The salts of the newest generation when the header is lost: those of the first frame."""
    if len(data) < 32 + _FRAME.size:
        return 0, 0
    found = _FRAME.unpack_from(data, 32)
    return found[2], found[3]


def _frames(data: bytes, page_size: int, salts: Sums, before: Sums | None, order: str) -> Iterator[Frame]:
    step = _FRAME.size + page_size
    starts = range(32, len(data) - _FRAME.size + 1, step)
    ours = [at for at in starts if set(_FRAME.unpack_from(data, at)[2:4]) & set(salts)]
    for at in starts if ours else ():
        # What follows the last frame of ours is left over from an earlier generation.
        if at > ours[-1]:
            return
        page, size, *found, sum1, sum2 = _FRAME.unpack_from(data, at)
        whole = tuple(found) == salts and len(data) >= at + step
        sound = whole and before is not None and _fits(data[at : at + step], before, order)
        yield Frame(page, size, at + _FRAME.size, sound, sound or (whole and before is None))
        before = (sum1, sum2) if tuple(found) == salts else None


def _fits(frame: bytes, before: Sums, order: str) -> bool:
    return _sums(frame[:8] + frame[_FRAME.size :], before, order) == struct.unpack_from(">2I", frame, 16)


def _sums(data: bytes, before: Sums, order: str) -> Sums:
    first, second = before
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for left, right in zip(words[::2], words[1::2], strict=True):
        first = (first + left + second) & 0xFFFFFFFF
        second = (second + right + first) & 0xFFFFFFFF
    return first, second


@dataclass(frozen=True, slots=True)
class Index:
    """What the shared memory remembers of the WAL: how many frames were committed and copied back."""

    frames: int
    copied: int
    salts: Sums


def read_index(path: str) -> Index | None:
    """The -shm at this path; None when there is none, or it was not finished."""
    try:
        with open(path, "rb") as file:
            data = file.read(136)
    except OSError:
        return None
    if len(data) < 136 or data[:_SHM_HEADER] != data[_SHM_HEADER : 2 * _SHM_HEADER] or not data[12]:
        return None
    (frames,) = struct.unpack_from("=I", data, 16)
    (copied,) = struct.unpack_from("=I", data, 96)
    # The salts are kept as the WAL has them, byte for byte.
    salt1, salt2 = struct.unpack_from(">2I", data, 32)
    return Index(frames, copied, (salt1, salt2))
