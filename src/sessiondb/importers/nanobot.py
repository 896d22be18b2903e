"""nanobot and G-Agent: one JSONL file per conversation, its first line the metadata, written anew at each save."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import chat, packed
from .base import Message, Record, Session, Skipped
from .source import Source, first_objects
from .texts import when

NAME = "nanobot"


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    named = [Path(env[name]) for name in ("NANOBOT_HOME", "GAGENT_HOME") if env.get(name)]
    return [*named, home / ".nanobot", home / ".g-agent", home / ".gagent"]


def find(root: Path) -> Iterator[Path]:
    for pattern in ("sessions/**/*.jsonl", "workspace/sessions/**/*.jsonl", "workspaces/*/sessions/**/*.jsonl"):
        yield from packed.beside(root, pattern)


def detect(path: Path, head: bytes) -> bool:
    first = next(iter(first_objects(head, 1)), {})
    return first.get("_type") == "metadata"


def read(source: Source) -> Iterator[Record]:
    carry = source.carry
    if "key" in carry:
        yield Session(carry["key"])
    for found in source.objects():
        if isinstance(found, Skipped):
            yield found
            continue
        _, values = found
        if values.get("_type") == "metadata":
            session = _session(values, source.path)
            carry["key"] = session.native_id
            yield session
            continue
        if "key" not in carry:
            carry["key"] = _key_of(source.path)
            yield Session(carry["key"])
        yield _message(values)


def _session(values: Mapping[str, Any], path: Path) -> Session:
    key = values.get("key")
    key = key if isinstance(key, str) and key else _key_of(path)
    channel, _, chat_id = key.partition(":")
    details = values.get("metadata")
    details = details if isinstance(details, dict) else {}
    title = details.get("title")
    edited = details.get("title_user_edited")
    return Session(
        key,
        source=channel or None,
        title=title if isinstance(title, str) else None,
        title_source=("user" if edited else "llm") if title else None,
        started_at=when(values.get("created_at")),
        session_key=key,
        chat_id=chat_id or None,
        metadata={**details, "last_consolidated": values.get("last_consolidated")} if details else None,
    )


def _key_of(path: Path) -> str:
    """The key that the file's name was made of: base64 without padding, or the key with `:` written `_`."""
    stem = path.stem
    try:
        key = base64.urlsafe_b64decode(stem + "=" * (-len(stem) % 4)).decode("utf-8")
        if ":" in key and key.isprintable():
            return key
    except (binascii.Error, ValueError):
        pass
    channel, mark, chat_id = stem.partition("_")
    return f"{channel}:{chat_id}" if mark else stem


def _message(values: Mapping[str, Any]) -> Message:
    if "_type" in values:
        raw = json.dumps(values, ensure_ascii=False)
        return Message("meta", raw, when(values.get("timestamp")), injected=True)
    return chat.message(values)
