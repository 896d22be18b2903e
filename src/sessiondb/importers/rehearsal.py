"""An import that only counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..db import SessionDB
from .base import Document, Message, Record, Session, Skipped
from .report import Report, Tally


class Rehearsal:
    """Tells new sessions from known ones and counts messages; changes nothing."""

    def __init__(self, db: SessionDB, origin: str, path: Path, report: Report, tally: Tally, mtime: float) -> None:
        self.db = db
        self.origin = origin
        self.report = report
        self.tally = tally
        self.seen: set[str] = set()
        self.links: list[tuple[str, str, str]] = []
        self.waiting = self.unsaved = 0

    def restore(self, states: Mapping[str, Any]) -> None:
        """Nothing of an earlier read matters here."""

    def consume(self, records: Iterable[Record]) -> None:
        for record in records:
            if isinstance(record, Skipped):
                self.report.skip(self.tally, record)
            elif isinstance(record, Session):
                self._count(record.native_id)
            elif isinstance(record, Document):
                self._count_document(record.values)
            elif isinstance(record, Message):
                self.tally.messages += 1

    def _count(self, native_id: str) -> None:
        if native_id not in self.seen:
            self.seen.add(native_id)
            self._tell(native_id, self.db.provider.find_native(self.origin, native_id) is not None)

    def _count_document(self, document: Mapping[str, Any]) -> None:
        name = str(document.get("id"))
        self.tally.messages += len(document.get("messages") or ())
        if "id" in document and name not in self.seen:
            self.seen.add(name)
            self._tell(name, self.db.provider.get_session(name) is not None)

    def _tell(self, name: str, is_known: bool) -> None:
        if is_known or (self.origin, name) in self.report.met:
            self.tally.updated += 1
        else:
            self.tally.new += 1
        self.report.met.add((self.origin, name))

    def flush(self) -> None:
        """Nothing waits."""

    def state(self) -> dict[str, Any]:
        return {}
