"""Our own export: each line a session with its messages; see docs/export.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .base import Document, Record, Skipped
from .line_lists import find, roots
from .source import Source, first_objects

__all__ = ["NAME", "RESTORES", "detect", "find", "read", "roots"]
NAME = "sessiondb"
# Restored as they were, not merged as another agent's.
RESTORES = True
_FORMAT = "sessiondb/"
_VERSIONS = ("sessiondb/1",)


def detect(path: Path, head: bytes) -> bool:
    if b'"sessiondb/' not in head[:4096] and not head.startswith(b'{"id"'):
        return False
    first = next(iter(first_objects(head, 1)), None)
    if first is None:
        # The first session is longer than the head; its last key says what it is.
        return head.startswith((b'{"format": "sessiondb/', b'{"format":"sessiondb/'))
    return str(first.get("format", "")).startswith(_FORMAT)


def read(source: Source) -> Iterator[Record]:
    for found in source.objects():
        if isinstance(found, Skipped):
            yield found
            continue
        line, values = found
        if values.get("format") in _VERSIONS:
            yield Document(values, line)
        else:
            yield Skipped(source.path, line, f"format {values.get('format')!r}; this version reads {_VERSIONS[-1]}")
