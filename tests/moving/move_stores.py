"""Stores to move between, on every engine, a history with everything in it, and a portrait to compare."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from servers import mysql_stores, postgres
from sessiondb import registry
from sessiondb.db import SessionDB
from sessiondb.provider import SessionDBProvider

Options = dict[str, Any]
Place = tuple[str, Options]
NewPlace = Callable[[str], Place]

IMAGE = "data:image/png;base64," + "iVBORw0KGgo" * 8
WORDS = ["deploy", "nginx", "needle", "漢字", "/etc/hosts", "naïve", "🙂", "it's", "\ud800", "nul\0nul"]
# What the gateway and the importers keep.
BESIDE: dict[str, list[dict[str, Any]]] = {
    "import_files": [
        {
            "path": "/home/me/naïve \ud800.jsonl", "inode": 7, "size": 1 << 40, "mtime": 1.5, "read_offset": 12,
            "head_hash": "h", "origin": "codex", "state": "{}",
        },
    ],
    "gateway_bindings": [
        {
            "session_key": f"agent:main:telegram:{kind}:🙂", "platform": "telegram", "chat_type": kind, "chat_id": "42",
            "thread_id": None, "user_id": "u", "active_session_id": "s001", "reset_state": None,
            "created_at": 1.0, "updated_at": 2.5, "metadata": '{"a": "nul\\u0000"}',
        }
        for kind in ("dm", "group")
    ],
}  # fmt: skip


@contextmanager
def places(directory: Path) -> Iterator[NewPlace]:
    """Empty stores by name of their provider; emptied again afterwards."""
    with ExitStack() as used:
        makers: dict[str, Callable[[], Options]] = {
            "sqlite": lambda: {"path": str(directory / f"{uuid4().hex}.db"), "synchronous": "NORMAL"}
        }

        def new(name: str) -> Place:
            if name not in makers:
                makers[name] = _maker(name, used)
            return name, makers[name]()

        yield new


def _maker(name: str, used: ExitStack) -> Callable[[], Options]:
    if name == "postgresql":
        schemas = used.enter_context(postgres.schemas.lent())
        return lambda: dict(schemas.options())
    stores = used.enter_context(mysql_stores.opened())
    used.callback(stores.recycle)
    return stores.new


def opened(place: Place, **more: Any) -> SessionDBProvider:
    provider: SessionDBProvider = registry.load("providers", place[0])()
    provider.initialize(**place[1], **more)
    return provider


def write_history(provider: SessionDBProvider, sessions: int, most: int, seed: int = 1) -> None:
    """Conversations with tools, media, keys, gaps, hidden rows, tags, lineage, trash and notes."""
    chance = random.Random(seed)
    with_session = SessionDB(provider=provider)
    for number in range(sessions):
        _write_session(with_session, f"s{number:03d}", chance, most)
    for number in range(0, sessions, 5):
        with_session.rotate_session(f"s{number:03d}", new_id=f"s{number:03d}-next")
    with_session.create_session("going", "cli")
    with_session.append_message("going", "user", "into the trash")
    with_session.delete_session("going")
    with_session.set_meta("note", "kept \ud800")
    for table, rows in BESIDE.items():
        provider.load_side_rows(table, rows)


def _write_session(db: SessionDB, name: str, chance: random.Random, most: int) -> None:
    db.create_session(name, chance.choice(["cli", "telegram"]), model="m", cwd="/work", metadata={"n": name})
    rows = [_message(number, chance) for number in range(chance.randint(1, most))]
    db.append_messages(name, rows)
    if chance.random() < 0.3:
        db.set_session_title(name, f"about {name}")
        db.tag_session(name, "work", name)
    if chance.random() < 0.2:
        db.clear_messages(name)
        db.append_messages(name, rows[: most // 2])
    if chance.random() < 0.2:
        db.rewind_to_message(name, db.get_messages(name)[0]["id"])
    if chance.random() < 0.5:
        db.update_token_counts(name, 10, 20, estimated_cost_usd=0.5)
        db.end_session(name, "done")


def _message(number: int, chance: random.Random) -> dict[str, Any]:
    text = " ".join(chance.choices(WORDS, k=chance.randint(1, 12)))
    kind = number % 5
    if kind == 1:
        return {
            "role": "assistant",
            "tool_calls": [{"id": f"c{number}", "function": {"name": "sh", "arguments": "{}"}}],
        }
    if kind == 2:
        return {"role": "tool", "content": text, "tool_call_id": f"c{number - 1}", "tool_name": "sh"}
    if kind == 3:
        picture = {"type": "image_url", "image_url": {"url": IMAGE}}
        return {"role": "user", "content": [{"type": "text", "text": text}, picture]}
    return {"role": "user", "content": text, "message_key": f"k{number}", "metadata": {"at": number}}


_STORES_OWN = ("id", "message_id", "last_message_id")


def _plain(row: Any) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _STORES_OWN or isinstance(value, str)}


def portrait(provider: SessionDBProvider) -> dict[str, Any]:
    """All that must be the same in another store."""
    db = SessionDB(provider=provider)
    sessions = {entry.id: provider.get_session(entry.id) for entry in provider.catalogue()}
    return {
        "sessions": {name: _plain(row) for name, row in sorted(sessions.items())},
        "messages": {name: [_plain(row) for row in provider.stored_messages(name)] for name in sorted(sessions)},
        "calls": {name: [_plain(row) for row in db.get_tool_calls(name)] for name in sorted(sessions)},
        "media": {name: [_plain(row) for row in db.get_media_refs(name)] for name in sorted(sessions)},
        "tags": {name: db.get_tags(name) for name in sorted(sessions)},
        "activity": [
            row["id"] for row in db.list_sessions_rich(limit=1000, include_children=True, order_by="activity")
        ],
        "trash": [_plain(row) for row in db.list_trash(None)],
        "replays": {name: db.get_messages_as_conversation(name) for name in sorted(sessions)},
        "note": db.get_meta("note"),
        "beside": {table: provider.side_rows(table) for table in BESIDE},
    }


def ledgers(provider: SessionDBProvider) -> dict[str, tuple[int, int]]:
    return {entry.id: (entry.last_seq, entry.ledger) for entry in provider.catalogue()}
