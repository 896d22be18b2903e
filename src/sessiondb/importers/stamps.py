"""Whether a file is the one that was read before: unchanged, grown, rewritten, moved or compressed."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .archives import UNREADABLE
from .base import Parser
from .packed import open_plain

_PIECE = 4096
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Stamp:
    """What can be told without opening the file."""

    inode: int
    size: int
    mtime: float
    # What other files say about the source.
    beside: str | None = None

    def fits(self, row: Any) -> bool:
        return (row["size"], row["mtime"]) == (self.size, self.mtime)


def stamp(path: Path, parser: Parser) -> Stamp:
    """Size and time of a source; of a database with its log. Raises OSError."""
    status = os.stat(path)
    size, mtime = status.st_size, status.st_mtime
    own = getattr(parser, "stamp", None)
    if own is not None:
        size, mtime = own(path)
    else:
        try:
            log = os.stat(f"{path}-wal")
            size, mtime = size + log.st_size, max(mtime, log.st_mtime)
        except OSError:
            pass
    # Whole microseconds: a double of every database gives them back.
    beside = getattr(parser, "beside", None)
    return Stamp(status.st_ino, size, round(mtime, 6), None if beside is None else beside(path))


def fingerprint(path: Path, length: int) -> str | None:
    """A digest of the first `length` bytes by their beginning and end; None when there are fewer."""
    try:
        with open_plain(path) as file:
            head = file.read(min(length, _PIECE))
            end = _end(file, length, head)
    except UNREADABLE:
        return None
    if end is None:
        return None
    return f"{length}:{hashlib.sha256(head).hexdigest()[:24]}:{hashlib.sha256(end).hexdigest()[:24]}"


def _end(file: Any, length: int, head: bytes) -> bytes | None:
    """The last bytes before `length`."""
    if len(head) < min(length, _PIECE):
        return None
    start = max(length - _PIECE, 0)
    if start <= len(head):
        end = head[start:] + file.read(max(length - len(head), 0))
    else:
        _skip(file, start - len(head))
        end = file.read(length - start)
    return end if len(end) == length - start else None


def _skip(file: Any, count: int) -> None:
    try:
        file.seek(count, os.SEEK_CUR)
    except (OSError, ValueError):
        while count > 0 and (read := len(file.read(min(count, _CHUNK)))):
            count -= read


def still_begins(path: Path, known: str | None) -> bool:
    """Whether the file begins as the one did whose fingerprint is known."""
    length = (known or "").partition(":")[0]
    return bool(length.isdigit() and known is not None and fingerprint(path, int(length)) == known)
