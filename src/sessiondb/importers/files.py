"""Which files were read, how far, and under which name they were known before."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..db import SessionDB
from ..models import ImportFileRow
from .source import head_of
from .stamps import Stamp, fingerprint, still_begins

_PIECE = 4096
# Longer paths do not fit the key of every database.
_LONGEST = 600


@dataclass(slots=True)
class Progress:
    """How far a source was read; `offset` is None for one that is always read whole."""

    offset: int | None = None
    line: int = 0
    carry: dict[str, Any] = field(default_factory=dict)
    sessions: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    skipped: int = 0
    error: str | None = None
    is_broken_off: bool = False
    beside: str | None = None


def path_key(path: Path) -> str:
    text = os.path.abspath(path)
    return text if len(text) <= _LONGEST else "sha256:" + hashlib.sha256(os.fsencode(text)).hexdigest()


class Files:
    """What earlier imports knew, read once; changes are written in batches."""

    def __init__(self, db: SessionDB, *, dry: bool = False) -> None:
        self.db = db
        self.dry = dry
        self.rows: dict[str, ImportFileRow] = {row["path"]: row for row in db.provider.list_import_files()}
        self._changed: dict[str, ImportFileRow] = {}
        self._forgotten: list[str] = []
        self._lost: dict[tuple[int, str], list[ImportFileRow]] | None = None

    def look_again(self) -> None:
        """Files may have moved since the last import."""
        self._lost = None

    def known(self, path: Path) -> ImportFileRow | None:
        return self.rows.get(path_key(path))

    def is_unchanged(self, path: Path, stamp: Stamp) -> bool:
        row = self.known(path)
        if row is None or not stamp.fits(row):
            return False
        progress = progress_of(row)
        return progress.error is None and not progress.is_broken_off and progress.beside == stamp.beside

    def before(self, path: Path, origin: str) -> tuple[Progress, str | None]:
        """Where to go on reading, and the path that the file had before when it moved."""
        row = self.known(path)
        moved = None
        if row is None:
            row = self._moved(path, origin)
            moved = None if row is None else row["path"]
        if row is None or row["origin"] != origin:
            return Progress(), None
        progress = progress_of(row)
        if progress.offset is not None and still_begins(path, row["head_hash"]):
            return progress, moved
        # Whole again; which sessions it had, and under which titles, stays known.
        before = {name: {"title": known.get("title")} for name, known in progress.sessions.items()}
        return Progress(sessions=before), moved

    def _moved(self, path: Path, origin: str) -> ImportFileRow | None:
        lost = self._lost_files()
        if not lost:
            return None
        head = head_of(path, _PIECE)
        for length in {length for length, _ in lost}:
            for row in lost.get((length, _digest(head[:length])), ()):
                if row["origin"] == origin and still_begins(path, row["head_hash"]):
                    return row
        return None

    def _lost_files(self) -> dict[tuple[int, str], list[ImportFileRow]]:
        """Files that are no longer where they were, by the digest of their beginning."""
        if self._lost is None:
            self._lost = {}
            for row in self.rows.values():
                length, _, rest = (row["head_hash"] or "").partition(":")
                if length.isdigit() and int(length) and not os.path.lexists(row["path"]):
                    place = (min(int(length), _PIECE), rest.partition(":")[0])
                    self._lost.setdefault(place, []).append(row)
        return self._lost

    def note(self, path: Path, origin: str, stamp: Stamp, progress: Progress, moved: str | None = None) -> None:
        """Remember how far a file was read."""
        progress.beside = stamp.beside
        length = stamp.size if progress.offset is None else progress.offset
        row: ImportFileRow = {
            "path": path_key(path),
            "inode": stamp.inode,
            "size": stamp.size,
            "mtime": stamp.mtime,
            "read_offset": progress.offset,
            "head_hash": fingerprint(path, length),
            "origin": origin,
            "state": _text(progress),
        }
        self.rows[row["path"]] = self._changed[row["path"]] = row
        if moved is not None and moved != row["path"]:
            self._forgotten.append(moved)
            self.rows.pop(moved, None)
        if len(self._changed) >= 100:
            self.save()

    def save(self) -> None:
        if (self._changed or self._forgotten) and not self.dry:
            self.db.provider.put_import_files(list(self._changed.values()), forget=self._forgotten)
        self._changed, self._forgotten = {}, []


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]


def _text(progress: Progress) -> str:
    state = {name: getattr(progress, name) for name in Progress.__slots__ if name != "offset"}
    return json.dumps({name: value for name, value in state.items() if value})


def progress_of(row: Mapping[str, Any]) -> Progress:
    try:
        state = json.loads(row["state"] or "{}")
    except ValueError:
        state = {}
    known = {name: value for name, value in state.items() if name in Progress.__slots__}
    return Progress(**known | {"offset": row["read_offset"]})
