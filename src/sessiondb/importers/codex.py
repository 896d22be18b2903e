"""Codex: `~/.codex/sessions/**/rollout-*.jsonl` (also `.jsonl.zst`), `archived_sessions/`, and two older forms.

What is said stands twice in a rollout, as an item and as an event: items are the transcript, events tell which prompts
a person typed, and take the place of items only where there are none. Token counts are cumulative and written more than
once. A rollout that begins with the history of its parent (a fork, or a subagent) counts only what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from .base import Record, Skipped
from .codex_rollout import Rollout, id_in_name
from .packed import open_plain
from .source import Source, decode, first_objects
from .texts import words_of

NAME = "codex"
_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_ENDS = (".jsonl", ".jsonl.zst", ".jsonl.gz", ".json")
_OLD_FORM = re.compile(rb'^\s*\{\s*"session"\s*:\s*\{')
_INDEX = "session_index.jsonl"


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    named = env.get("CODEX_HOME")
    return [Path(named).expanduser() if named else home / ".codex"]


def find(root: Path) -> Iterator[Path]:
    found = [path for path in root.rglob("rollout-*") if path.name.endswith(_ENDS)]
    plain = set(found)
    for path in sorted(found):
        # Compression writes the new file before it removes the old one.
        if path.suffix != ".zst" or path.with_suffix("") not in plain:
            yield path


def beside(path: Path) -> str | None:
    """The title that the session was given, perhaps long after its last word."""
    native_id = id_in_name(path)
    return None if native_id is None else titles_beside(path).get(native_id)


def detect(path: Path, head: bytes) -> bool:
    if not path.name.endswith(_ENDS) or path.name == _INDEX:
        return False
    if path.suffix == ".json":
        return _OLD_FORM.match(head) is not None and b'"items"' in head
    if path.suffix == ".zst" and not head:
        # It cannot be looked into without an optional package; reading it says which.
        return path.name.startswith("rollout-")
    records = first_objects(head)
    if any(words_of(record.get("type")) in _KINDS and isinstance(record.get("payload"), dict) for record in records):
        return True
    return bool(records) and _is_bare_meta(records[0])


def _is_bare_meta(record: dict[str, Any]) -> bool:
    """The first line of rollouts of 2025, which had no envelope."""
    return "instructions" in record and "id" in record and "timestamp" in record and "type" not in record


def read(source: Source) -> Iterator[Record]:
    if source.path.suffix == ".json":
        yield from _read_old_form(source)
        return
    _choose_forms(source)
    rollout = Rollout(source, titles_beside(source.path))
    for found in source.objects():
        if isinstance(found, Skipped):
            yield found
        elif "payload" in found[1]:
            yield from rollout.records(found[0], found[1])
        elif _is_bare_meta(found[1]):
            yield from rollout.records(found[0], {"type": "session_meta", "payload": found[1]})
        elif "record_type" not in found[1]:
            yield from rollout.records(found[0], {"type": "response_item", "payload": found[1]})
    yield from rollout.rest()


def _read_old_form(source: Source) -> Iterator[Record]:
    whole = source.document()
    items = whole.get("items") if isinstance(whole, dict) else None
    if not isinstance(items, list) or not isinstance(whole.get("session"), dict):
        yield Skipped(source.path, None, "a JSON file without the session and items of a rollout")
        return
    source.carry.clear()
    source.carry.update(speaks="items", thinks="items")
    rollout = Rollout(source, titles_beside(source.path))
    yield from rollout.records(0, {"type": "session_meta", "payload": whole["session"]})
    for number, item in enumerate(items, start=1):
        yield from rollout.records(number, {"type": "response_item", "payload": item})
    yield from rollout.rest()


def _choose_forms(source: Source) -> None:
    carry = source.carry
    before = carry.get("speaks"), carry.get("thinks")
    if before == ("items", "items"):
        return
    carry["speaks"], carry["thinks"] = _forms_in(source.file)
    if isinstance(answer := carry.get("answer"), dict):
        # The file had ended between an event and its item, which follows now.
        if before[0] == "events" and carry["speaks"] == "items":
            answer["texts"] = []
        if before[1] == "events" and carry["thinks"] == "items":
            answer["thoughts"] = []


def _forms_in(path: Path) -> tuple[str, str]:
    """Whether answers and thoughts are told by items, or by events alone."""
    speaks = thinks = "events"
    with open_plain(path) as file:
        for line in file:
            if b'"response_item"' not in line and b'"payload"' in line:
                continue
            item = _item_of(line)
            if item.get("role") == "assistant" and speaks == "events" and _has_text(item.get("content")):
                speaks = "items"
            elif item.get("type") == "reasoning" and thinks == "events" and _has_text(item.get("summary")):
                thinks = "items"
            if (speaks, thinks) == ("items", "items"):
                break
    return speaks, thinks


def _item_of(line: bytes) -> dict[str, Any]:
    if b'"assistant"' not in line and b'"reasoning"' not in line:
        return {}
    try:
        values, _ = decode(line)
    except ValueError:
        return {}
    record = values[0] if values and isinstance(values[0], dict) else {}
    payload = record.get("payload", record) if record.get("type", "response_item") != "compacted" else {}
    return payload if isinstance(payload, dict) else {}


def _has_text(content: Any) -> bool:
    if isinstance(content, str):
        return bool(content.strip())
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and (words_of(part.get("text")) or "").strip() for part in parts)


def titles_beside(path: Path) -> dict[str, str]:
    """Titles that were given to threads, in the list that Codex keeps beside its sessions."""
    for directory in path.parents[:6]:
        index = directory / _INDEX
        if index.is_file():
            return _titles(index, index.stat().st_mtime_ns)
    return {}


@lru_cache(maxsize=4)
def _titles(index: Path, changed: int) -> dict[str, str]:
    titles: dict[str, str] = {}
    with index.open("rb") as file:
        for line in file:
            for entry in first_objects(line):
                if words_of(entry.get("id")) and words_of(entry.get("thread_name")):
                    titles[entry["id"]] = entry["thread_name"]
    return titles
