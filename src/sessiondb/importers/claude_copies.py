"""Older versions of Claude Code continue a session in a new file that begins with a copy of the old one.

The copied records have the session id of the new file but the uuids of the old: two files of a project that begin with
the same uuid are told apart by what follows the common part. The one that goes on earlier, or not at all, is the
original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from . import packed
from .source import first_objects, head_of
from .texts import words_of

_UUID = re.compile(rb'"uuid":"([^"]{1,64})"')
_TIME = re.compile(rb'"timestamp":"([^"]{1,40})"')


class Copied(NamedTuple):
    """How many records with a uuid a file has from another, and the session they belong to."""

    records: int
    session: str


def copied_into(path: Path) -> Copied | None:
    """What a transcript repeats of an older one; None when it begins by itself."""
    first = _first_uuid(path)
    if first is None:
        return None
    beginnings = _beginnings(path.parent, path.parent.stat().st_mtime_ns)
    best: Copied | None = None
    for other in beginnings.get(first, ()):
        if packed.plain_name(other) == packed.plain_name(path):
            # Itself, or itself on its way into a compressed file.
            continue
        if (shared := _shared(path, other)) is not None and shared > (best.records if best else 0):
            best = Copied(shared, _session_of(other))
    return best


def _shared(path: Path, other: Path) -> int | None:
    """The length of the common part; None when `path` is the original."""
    count = 0
    mine, yours = _marks(packed.lines_of(path)), _marks(packed.lines_of(other))
    while True:
        here, there = next(mine, None), next(yours, None)
        if here is None or there is None or here[0] != there[0]:
            break
        count += 1
    if here is None:
        # The same to the last line: the name decides which is the copy.
        return count if there is None and other.name < path.name else None
    return count if there is None or there[1] < here[1] else None


def _marks(lines: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Uuid and time of every record that has a uuid."""
    for line in lines:
        if found := _UUID.search(line):
            moment = _TIME.search(line)
            yield found[1], moment[1] if moment else b""


def _first_uuid(path: Path) -> str | None:
    return next((uuid for record in first_objects(head_of(path)) if (uuid := words_of(record.get("uuid")))), None)


def _session_of(path: Path) -> str:
    records = first_objects(head_of(path))
    return next(
        (name for record in records if (name := words_of(record.get("sessionId")))), packed.plain_name(path).stem
    )


@lru_cache(maxsize=4)
def _beginnings(directory: Path, changed: int) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in packed.beside(directory, "*.jsonl"):
        if (first := _first_uuid(path)) is not None:
            found.setdefault(first, []).append(path)
    return found
