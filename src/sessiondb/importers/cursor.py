"""Cursor: transcripts of its agent in `~/.cursor/projects`, and the chats of the editor in `state.vscdb`.

A transcript has neither times nor results of tools; title, model and beginning are in `store.db` of the same chat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ImportProblem
from . import databases, packed
from .base import Record, Session, Skipped
from .block_turns import Turn
from .cursor_editor import TABLES, composers
from .editors import config_places
from .parts import object_of
from .source import Source, first_objects
from .texts import is_injected, when, words_of

NAME = "cursor"
_QUERY = re.compile(r"\s*<user_query>\n?(.*?)\n?</user_query>\s*", re.DOTALL)
_KEYS = {"role", "message"}
# Lines of other agents have these beside a message.
_OTHERS = frozenset({"type", "uuid", "sessionId", "parentId"})


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    editor = [place / "Cursor" / "User" / "globalStorage" for place in config_places(env, home)]
    return [home / ".cursor" / "projects", *editor]


def find(root: Path) -> Iterator[Path]:
    yield from packed.beside(root, "**/agent-transcripts/**/*.jsonl")
    yield from sorted(root.rglob("state.vscdb"))


def detect(path: Path, head: bytes) -> bool:
    if databases.is_database(head):
        return databases.has(path, TABLES)
    first = next(iter(first_objects(head, 1)), {})
    content = object_of(first.get("message")).get("content")
    is_ours = {*first} >= _KEYS and _OTHERS.isdisjoint(first)
    return path.suffix == ".jsonl" and is_ours and isinstance(content, list)


def read(source: Source) -> Iterator[Record]:
    if databases.is_file(source.file):
        with source.tables() as tables:
            yield from composers(source.path, tables)
    else:
        yield from _read_lines(source)


def _read_lines(source: Source) -> Iterator[Record]:
    carry = source.carry
    yield _session(source.path)
    is_subagent = source.path.parent.name == "subagents"
    for found in source.objects():
        if isinstance(found, Skipped):
            yield found
            continue
        carry["count"] = number = carry.get("count", 0) + 1
        record = found[1]
        role = words_of(record.get("role"))
        content = object_of(record.get("message")).get("content")
        kind = role if role in ("user", "assistant") else "meta"
        turn = Turn(kind, str(number), is_note=lambda text: is_subagent or is_injected(text))
        yield from turn.messages(_typed(content) if kind == "user" else content if kind == "assistant" else [record])


def _typed(content: Any) -> Any:
    """What was typed, out of the mark around it."""
    blocks = content if isinstance(content, list) else [content]
    return [
        {**block, "text": found.group(1)}
        if isinstance(block, dict) and (found := _QUERY.fullmatch(words_of(block.get("text")) or ""))
        else block
        for block in blocks
    ]


def _session(path: Path) -> Session:
    if path.parent.name == "subagents":
        parent = path.parent.parent.name
        return Session(path.stem, source="subagent", parent_native_id=parent, relation="subagent")
    facts = _stored(path)
    title = words_of(facts.get("name"))
    return Session(
        path.stem,
        source="cli",
        title=title,
        title_source="agent" if title else None,
        started_at=when(facts.get("createdAt")),
        model=words_of(facts.get("lastUsedModel")),
    )


def _stored(path: Path) -> dict[str, Any]:
    """What `chats/<project>/<id>/store.db` tells about a transcript."""
    home = next((above.parent for above in path.parents if above.name == "projects"), None)
    for database in sorted(home.glob(f"chats/*/{path.stem}/store.db")) if home is not None else ():
        try:
            with Source(database).tables() as tables:
                rows = [row["value"] for row in tables.rows("meta", equal={"key": "0"})]
            return object_of(databases.decoded(bytes.fromhex(rows[0])))
        except (ImportProblem, IndexError, KeyError, TypeError, ValueError):
            continue
    return {}
