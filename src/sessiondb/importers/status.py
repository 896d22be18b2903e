"""What lies on disk, and what of it was imported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..db import SessionDB
from .files import Files, progress_of
from .known import Found
from .stamps import stamp


@dataclass(slots=True)
class Status:
    """Sources of one agent below one place."""

    agent: str
    path: str
    on_disk: int = 0
    imported: int = 0
    changed: int = 0
    failed: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in ("agent", "path", "on_disk", "imported", "changed", "failed")}
        return counts | {"failures": [{"path": path, "why": why} for path, why in self.failures]}


def status(db: SessionDB, sources: Iterable[Found]) -> list[Status]:
    """Per agent and place: sources on disk, imported as they are now, changed or new since, failed."""
    files = Files(db, dry=True)
    found: dict[tuple[str, str], Status] = {}
    for source in sources:
        agent = source.parser.NAME if source.parser else "unknown"
        row = found.setdefault((agent, str(source.root)), Status(agent, str(source.root)))
        row.on_disk += 1
        _judge(files, source, row)
    return list(found.values())


def _judge(files: Files, source: Found, row: Status) -> None:
    known = files.known(source.path)
    error = progress_of(known).error if known else None
    if source.parser is None:
        error = "no known format"
    if error is not None or source.parser is None:
        row.failed += 1
        row.failures.append((str(source.path), error or ""))
        return
    try:
        unchanged = files.is_unchanged(source.path, stamp(source.path, source.parser))
    except OSError as exc:
        row.failed += 1
        row.failures.append((str(source.path), exc.strerror or str(exc)))
        return
    if unchanged:
        row.imported += 1
    else:
        row.changed += 1
