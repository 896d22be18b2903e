"""Sessions of our own export come back as they were: ids, positions, lineage, ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..db import SessionDB
from .base import Document, Record, Skipped
from .report import Report, Tally


class Restoring:
    """Hands documents to `import_sessions`, one at a time."""

    def __init__(self, db: SessionDB, origin: str, path: Path, report: Report, tally: Tally, mtime: float) -> None:
        self.db = db
        self.path = path
        self.report = report
        self.tally = tally
        self.seen: set[str] = set()
        self.links: list[tuple[str, str, str]] = []
        self.waiting = self.unsaved = 0

    def restore(self, states: Mapping[str, Any]) -> None:
        """Sessions that are here are known by their ids."""

    def consume(self, records: Iterable[Record]) -> None:
        done = self.db.import_sessions(self._documents(records))
        self.tally.new += len(done.imported)
        self.tally.messages += done.messages
        self.report.brought.update(done.imported)
        self.report.notes += done.notes
        for name, why in done.skipped.items():
            if not why.endswith("the same"):
                self.report.skip(self.tally, Skipped(self.path, None, f"{name}: {why}"))
        for name, why in done.failed.items():
            self.report.skip(self.tally, Skipped(self.path, None, f"{name}: {why}"))

    def _documents(self, records: Iterable[Record]) -> Iterator[Mapping[str, Any]]:
        for record in records:
            if isinstance(record, Document):
                if "id" in record.values:
                    self.seen.add(str(record.values["id"]))
                yield record.values
            elif isinstance(record, Skipped):
                self.report.skip(self.tally, record)

    def flush(self) -> None:
        """Nothing waits."""

    def state(self) -> dict[str, Any]:
        return {}
