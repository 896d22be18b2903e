"""Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json` and, since 0.40, `.jsonl`.

A line of the newer form may replace a message by its id, change the header, or take back everything from a message on.
The project directory is not stored: it is looked up in the lists that Gemini keeps, by its short name or its hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import packed
from .base import Record, Skipped
from .gemini_chat import Chat
from .source import Source, first_objects
from .texts import words_of

NAME = "gemini-cli"
_LISTS = ("projects.json", "trustedFolders.json")


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    named = env.get("GEMINI_CLI_HOME")
    return [(Path(named).expanduser() if named else home) / ".gemini" / "tmp"]


def find(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*.json*")):
        if packed.plain_name(path).suffix in (".json", ".jsonl") and "chats" in path.relative_to(root).parts[:-1]:
            yield path


def detect(path: Path, head: bytes) -> bool:
    if path.suffix == ".jsonl":
        return any(_is_header(record) for record in first_objects(head, 3))
    if path.suffix != ".json" or b'"sessionId"' not in head or not head.lstrip().startswith(b"{"):
        return False
    return b'"projectHash"' in head or (b'"messages"' in head and b'"startTime"' in head)


def _is_header(record: dict[str, Any]) -> bool:
    return "sessionId" in record and "type" not in record and ("projectHash" in record or "startTime" in record)


def read(source: Source) -> Iterator[Record]:
    if source.path.suffix == ".json":
        whole = source.document()
        if not isinstance(whole, dict) or not isinstance(whole.get("messages"), list):
            yield Skipped(source.path, None, "a JSON file without the messages of a chat")
            return
        source.carry.clear()
        chat = Chat(source, project_of)
        yield from chat.change(whole)
        yield from chat.rest()
        return
    chat = Chat(source, project_of)
    yield from source.each(chat.record)
    yield from chat.rest()


def project_of(path: Path, header: Mapping[str, Any]) -> str | None:
    """The directory that a chat was about, where some list of Gemini names it."""
    project = next((parent.parent for parent in path.parents if parent.name == "chats"), None)
    if project is not None:
        marker = project / ".project_root"
        if marker.is_file():
            return marker.read_text("utf-8", "replace").strip() or None
        names = {project.name, words_of(header.get("projectHash"))}
        for place, name in _places(project.parent.parent):
            if name in names or hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest() in names:
                return place
    directories = header.get("directories")
    return words_of(directories[0]) if isinstance(directories, list) and directories else None


def _places(home: Path) -> list[tuple[str, str]]:
    lists = [home / name for name in _LISTS]
    return [place for file in lists if file.is_file() for place in _listed(file, file.stat().st_mtime_ns)]


@lru_cache(maxsize=8)
def _listed(file: Path, changed: int) -> list[tuple[str, str]]:
    try:
        whole = json.loads(file.read_bytes())
    except ValueError:
        return []
    whole = whole.get("projects", whole) if isinstance(whole, dict) else {}
    return [(place, str(name)) for place, name in whole.items()] if isinstance(whole, dict) else []
