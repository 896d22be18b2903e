"""What the exports of chat services share: they lie wherever they were put, as JSON or in a ZIP file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .base import Record, Skipped
from .source import Source

ENDS = (".json", ".zip")


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    """Nowhere: an export is downloaded and named."""
    return []


def holds(path: Path, head: bytes, *names: str) -> bool:
    """Whether a JSON file begins with conversations that have these keys."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return path.suffix in ENDS and start[:1] in (b"[", b"{") and all(f'"{name}"'.encode() in head for name in names)


def files(root: Path, is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.suffix in ENDS and is_ours(path))


def conversations(source: Source, key: str, read: Callable[[Mapping[str, Any]], Iterator[Record]]) -> Iterator[Record]:
    """What `read` makes of every conversation; an object without the key that they all have is none."""
    for values in source.elements():
        if isinstance(values, Skipped):
            yield values
        elif key in values:
            yield from read(values)
        else:
            yield Skipped(source.path, None, f"an object without {key!r} is no conversation")
