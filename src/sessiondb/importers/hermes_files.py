"""The files of Hermes: `session_<id>.json`, `<id>.jsonl` of the gateway, and the gateway's index `sessions.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import ImportProblem
from . import chat
from .base import Message, Record, Session, Skipped, Usage
from .source import Source, decode, first_objects, head_of
from .texts import count_of, when

_INDEX = "sessions.json"
_MOST_INDEX = 64 * 1024 * 1024
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def is_transcript(path: Path) -> bool:
    """Not the index, which is read with each transcript, and not what was sent to a model."""
    return path.suffix in (".json", ".jsonl") and path.name != _INDEX and not path.name.startswith("request_dump_")


def detect(path: Path, head: bytes) -> bool:
    if not is_transcript(path):
        return False
    if path.suffix == ".json":
        start = head[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
        return start.startswith(b"{") and b'"session_id"' in start and b'"session_start"' in head
    found = first_objects(head, 2)
    if found and found[0].get("role") == "session_meta":
        return True
    has_roles = bool(found) and all("role" in each and "timestamp" in each for each in found)
    if _is_mirrored(head):
        return False
    return has_roles and (path.parent / _INDEX).exists() and "_type" not in found[0]


def read(source: Source) -> Iterator[Record]:
    if _is_in_database(source.path) or _is_mirrored(head_of(source.file, 4096)):
        return
    if source.path.suffix == ".json":
        yield from _read_document(source)
    else:
        yield from _read_lines(source)


def _read_document(source: Source) -> Iterator[Record]:
    values = source.document()
    if not isinstance(values, dict):
        yield Skipped(source.path, None, "no session object")
        return
    native_id = str(values.get("session_id") or source.path.stem.removeprefix("session_"))
    tools = values.get("tools")
    yield Session(
        native_id,
        source=_text(values.get("platform")),
        started_at=when(values.get("session_start")),
        model=_text(values.get("model")),
        system_prompt=_text(values.get("system_prompt")),
        cwd=_text(values.get("cwd")),
        metadata={"tools": len(tools)} if isinstance(tools, list) and tools else None,
    )
    yield from _entry_records(source.path, native_id)
    messages = values.get("messages")
    for number, message in enumerate(messages if isinstance(messages, list) else [], start=1):
        if isinstance(message, dict):
            yield chat.message(message)
        else:
            yield Skipped(source.path, None, f"message {number} is no object")


def _read_lines(source: Source) -> Iterator[Record]:
    native_id = source.carry.setdefault("session", source.path.name.removesuffix(".jsonl"))
    yield Session(native_id)
    yield from _entry_records(source.path, native_id)
    for found in source.objects():
        if isinstance(found, Skipped):
            yield found
            continue
        _, values = found
        if values.get("role") == "session_meta":
            yield _described(native_id, values)
            yield Message("meta", json.dumps(values, ensure_ascii=False), when(values.get("timestamp")), injected=True)
        else:
            yield chat.message(values)


def _is_mirrored(head: bytes) -> bool:
    """Whether this program's gateway wrote the file beside its store, which has all of it."""
    return head.startswith(b'{"session_id": "') and b'"seq": ' in head[:4096]


def _is_in_database(path: Path) -> bool:
    """Whether `state.db` has the session, as it does for all that later versions wrote: that copy knows more."""
    database = path.parent.parent / "state.db"
    if path.parent.name != "sessions" or not database.exists():
        return False
    native_id = _native_id(path)
    try:
        with Source(database).tables() as tables:
            return any(True for _ in tables.rows("messages", equal={"session_id": native_id}))
    except ImportProblem:
        return False


def _described(native_id: str, values: Mapping[str, Any]) -> Session:
    return Session(
        native_id,
        source=_text(values.get("platform")),
        model=_text(values.get("model")),
        started_at=when(values.get("timestamp")),
        system_prompt=_text(values.get("system_prompt")),
    )


def _entry_records(path: Path, native_id: str) -> Iterator[Record]:
    """What the gateway's index tells about a session."""
    for key, entry in _entries(path, native_id).items():
        named = entry.get("origin")
        origin: dict[str, Any] = named if isinstance(named, dict) else {}
        yield Session(
            native_id,
            source=_text(entry.get("platform") or origin.get("platform")),
            started_at=when(entry.get("created_at")),
            session_key=key,
            chat_id=_text(origin.get("chat_id")),
            chat_type=_text(entry.get("chat_type") or origin.get("chat_type")),
            thread_id=_text(origin.get("thread_id")),
            user_id=_text(origin.get("user_id")),
            display_name=_text(entry.get("display_name")),
            parent_native_id=_text(entry.get("prev_session_id")),
            relation="reset" if entry.get("prev_session_id") else None,
        )
        cost = entry.get("estimated_cost_usd")
        known: dict[str, Any] = {name: count_of(entry.get(name)) for name in _TOKENS}
        yield Usage(
            **known,
            estimated_cost_usd=float(cost) if isinstance(cost, int | float) else None,
            cost_status=_text(entry.get("cost_status")),
        )


def entries_digest(path: Path) -> str | None:
    """A mark of what the gateway's index tells about a transcript."""
    entries = _entries(path, _native_id(path))
    return hashlib.sha256(json.dumps(entries).encode()).hexdigest()[:24] if entries else None


def _native_id(path: Path) -> str:
    return path.name.removesuffix(path.suffix).removeprefix("session_")


def _entries(path: Path, native_id: str) -> dict[str, dict[str, Any]]:
    index = path.parent / _INDEX
    try:
        stat = index.stat()
    except OSError:
        return {}
    return _by_session(index, stat.st_mtime_ns, stat.st_size).get(native_id, {})


@lru_cache(maxsize=4)
def _by_session(index: Path, changed: int, size: int) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for key, entry in _index(index).items():
        if isinstance(entry, dict) and isinstance(entry.get("session_id"), str):
            found.setdefault(entry["session_id"], {})[key] = entry
    return found


def _index(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            values, _ = decode(file.read(_MOST_INDEX).removeprefix(b"\xef\xbb\xbf"))
    except (OSError, ValueError):
        return {}
    return values[0] if values and isinstance(values[0], dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None if value in (None, "") else str(value)
