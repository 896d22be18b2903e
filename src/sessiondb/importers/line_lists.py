"""Files that lie wherever they were put, with one conversation per line: its messages are a list under one key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .base import Skipped
from .source import Source, first_objects


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    """No place is theirs by default."""
    return []


def find(root: Path) -> Iterator[Path]:
    yield from root.rglob("*.jsonl")


def detect(path: Path, head: bytes, key: str, mark: str) -> bool:
    """Whether the first line has the list, and its first messages the mark by which they are known."""
    if ".jsonl" not in path.name and ".ndjson" not in path.name:
        return False
    found = first_objects(head, 1)
    if not found:
        return head.lstrip().startswith((f'{{"{key}":'.encode(), f'{{"{key}" :'.encode()))
    messages = found[0].get(key)
    return isinstance(messages, list) and all(isinstance(each, dict) and mark in each for each in messages[:5])


def conversations(source: Source, key: str) -> Iterator[tuple[int, dict[str, Any], list[Any]] | Skipped]:
    """Line, object and list of every line that has one."""
    for found in source.objects():
        if isinstance(found, Skipped):
            yield found
        elif isinstance(messages := found[1].get(key), list):
            yield found[0], found[1], messages
        else:
            yield Skipped(source.path, found[0], f"no list of {key}")
