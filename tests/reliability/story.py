"""A fixed story of writes, each one transaction: append, batch, rotate, rewind, delete, restore.

    story.py PATH ACKS FIRST   tell it from step FIRST on, noting each step after it is done

The memory provider tells the same story, so a test knows what a store must hold after any step.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import acknowledged

from sessiondb.backends.memory import MemoryProvider
from sessiondb.db import SessionDB

Step = Callable[[SessionDB], object]
LANE = "story"
NOON = 1_750_000_000.0
TOOLS = [{"id": "c1", "function": {"name": "find", "arguments": "{}"}}]
BATCH: list[dict[str, Any]] = [
    {"role": "assistant", "content": None, "tool_calls": TOOLS},
    {"role": "tool", "content": "/etc/hosts", "tool_call_id": "c1"},
    {"role": "assistant", "content": "found it", "message_key": "k1"},
]

STEPS: dict[str, Step] = {
    "create": lambda db: db.create_session("a", "cli"),
    "append": lambda db: db.append_message("a", "user", "where is hosts"),
    "title": lambda db: db.set_session_title("a", "hosts"),
    "batch": lambda db: db.append_messages("a", BATCH),
    "fork": lambda db: db.fork_session("a", new_id="fork"),
    "rotate": lambda db: db.rotate_session("a", new_id="b"),
    "go on": lambda db: db.append_message("b", "user", "go on", message_key="k2"),
    "rewind": lambda db: db.rewind_to_message("fork", db.get_messages("fork")[0]["id"]),
    "trash": lambda db: db.delete_session("a"),
    "restore": lambda db: db.restore_deleted("a"),
    "replace": lambda db: db.replace_messages("fork", [{"role": "user", "content": "anew"}]),
    "clear": lambda db: db.clear_messages("fork"),
    "prune": lambda db: db.prune_sessions(0, hard=True),
    "end": lambda db: db.append_message("b", "user", "the end"),
}
NAMES = list(STEPS)


def clock() -> float:
    return NOON


def tell(db: SessionDB, names: list[str]) -> None:
    for name in names:
        STEPS[name](db)


def expected(steps: int) -> list[Any]:
    """What a store holds after so many steps."""
    provider = MemoryProvider()
    provider.initialize()
    db = SessionDB(provider=provider, clock=clock)
    tell(db, NAMES[:steps])
    return contents(db)


def contents(db: SessionDB) -> list[Any]:
    """Everything but the ids of messages, which are the store's own."""
    rows = db.list_sessions_rich(limit=100, include_children=True, project_compression_tips=False)
    sessions = [db.export_session(row["id"]) or {} for row in rows]
    trash = [(row["id"], row["message_count"]) for row in db.list_trash()]
    return [*sorted((_without_ids(session) for session in sessions), key=lambda row: str(row["id"])), trash]


def _without_ids(session: dict[str, Any]) -> dict[str, Any]:
    messages = [{name: message[name] for name in message if name != "id"} for message in session["messages"]]
    return {**session, "messages": messages, "last_message_id": None}


def main(path: str, acks: str, first: int) -> None:
    done = acknowledged.Acknowledged(acks, LANE)
    with SessionDB(path, clock=clock) as db:
        for number in range(first, len(NAMES)):
            STEPS[NAMES[number]](db)
            done.add(number)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
