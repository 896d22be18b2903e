"""The files of an OpenCode session: `session/<project>/<id>.json`, `message/<id>/*.json`, `part/<message>/*.json`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .base import Skipped
from .source import decode


class Tree:
    """Where the parts of one session are; in the oldest layout everything is below `session/`."""

    def __init__(self, session: Path) -> None:
        self.session = session
        oldest = session.parent.name == "info"
        self.base = session.parent.parent if oldest else session.parent.parent.parent
        self.parts_by_session = oldest

    @staticmethod
    def is_session(path: Path) -> bool:
        below = path.parent
        return path.suffix == ".json" and below.parent.name == "session" and below.name not in ("message", "part")

    def _parts(self, session_id: str, message_id: str) -> Path:
        below = self.base / "part"
        return below / session_id / message_id if self.parts_by_session else below / message_id

    def messages(self, session_id: str) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]] | Skipped]:
        """Messages in their order, each with its parts."""
        for found in _objects(self.base / "message" / session_id):
            if isinstance(found, Skipped):
                yield found
                continue
            parts: list[dict[str, Any]] = []
            for part in _objects(self._parts(session_id, str(found.get("id")))):
                if isinstance(part, Skipped):
                    yield part
                else:
                    parts.append(part)
            yield found, parts

    def stamp(self) -> tuple[int, float]:
        own = self.session.stat()
        size, latest = own.st_size, own.st_mtime
        for entry in _entries(self.base / "message" / self.session.stem):
            stat = entry.stat()
            size, latest = size + stat.st_size, max(latest, stat.st_mtime)
        return size, latest


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return [entry for entry in entries if entry.name.endswith(".json")]
    except OSError:
        return []


def _objects(directory: Path) -> Iterator[dict[str, Any] | Skipped]:
    for entry in sorted(_entries(directory), key=lambda entry: entry.name):
        path = Path(entry.path)
        try:
            values, _ = decode(path.read_bytes())
        except (ValueError, OSError) as exc:
            yield Skipped(path, None, f"not read: {exc}")
            continue
        if len(values) == 1 and isinstance(values[0], dict):
            yield values[0]
        else:
            yield Skipped(path, None, "not a JSON object")
