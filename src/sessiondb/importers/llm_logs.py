"""llm by Simon Willison: `logs.db`, in both of its generations.

Newer versions keep threads of messages known by their hash, each with the hash of the one before; a thread is the way
from its last message back. What older versions logged as conversations of responses stays beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import databases
from .base import Record
from .editors import config_places
from .llm_responses import Responses
from .llm_threads import Threads
from .source import Source

NAME = "llm"
_OLD = {"responses": ("id", "prompt", "response", "conversation_id"), "conversations": ("id", "name")}
_NEW = {"threads": ("id", "tip_message_hash"), "turns": ("id", "thread_id"), "parts": ("message_hash", "type")}


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    if named := env.get("LLM_USER_PATH"):
        return [Path(named).expanduser()]
    return [place / "io.datasette.llm" for place in config_places(env, home)]


def find(root: Path) -> Iterator[Path]:
    yield from sorted(root.glob("logs.db"))


def detect(path: Path, head: bytes) -> bool:
    return databases.is_database(head) and (databases.has(path, _NEW) or databases.has(path, _OLD))


def read(source: Source) -> Iterator[Record]:
    with source.tables() as tables:
        known = tables.tables()
        migrated: set[Any] = set()
        if {*_NEW} <= known:
            threads = Threads(tables)
            migrated = {*threads.turn_ids}
            for session in threads.sessions():
                yield from threads.records(session)
        if {*_OLD} <= known:
            yield from Responses(tables, migrated).records()
