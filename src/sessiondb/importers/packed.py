"""Files that were compressed: read as the file that they were, and known by the name that it had."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import MissingExtra
from .archives import UNREADABLE, first_member, is_archive

ENDS = (".gz", ".zst")


def is_compressed(path: Path) -> bool:
    return path.suffix in ENDS


def plain_name(path: Path) -> Path:
    """What the file was called: names tell formats and sessions."""
    return path.with_suffix("") if is_compressed(path) else path


def open_plain(path: Path) -> BinaryIO:
    """The bytes of a file, decompressed; of an export in a ZIP file its conversations. Raises MissingExtra."""
    if is_archive(path):
        return cast(BinaryIO, first_member(path))
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return _open_zstd(path) if is_compressed(path) else path.open("rb")


def beside(directory: Path, pattern: str) -> list[Path]:
    """The files whose plain names fit, in order."""
    ends = ("", *ENDS)
    return sorted(path for end in ends for path in directory.glob(pattern + end))


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, as far as they can be read: to look something up in it."""
    try:
        with open_plain(path) as file:
            yield from file
    except UNREADABLE:
        return


def _open_zstd(path: Path) -> BinaryIO:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        try:
            from backports import zstd  # type: ignore[attr-defined, import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise MissingExtra(f"reading {path.name}", "import") from None
    opened: BinaryIO = zstd.open(path, "rb")
    return opened
