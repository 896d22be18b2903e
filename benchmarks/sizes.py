"""How much is done: enough for steady medians, enough to see that everything runs, or up to a million messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    appends: int = 200
    # Stores to append to, in messages; ten to a session.
    growth: tuple[int, ...] = (10_000, 100_000)
    batches: int = 2
    batch: int = 1000
    imports: int = 2
    imported_sessions: int = 20
    # Histories of another agent.
    imported_files: int = 100
    imported_messages: int = 200
    loads: int = 20
    conversations: int = 10
    conversation: int = 500
    lists: int = 20
    sessions: int = 10_000
    messages_per_session: int = 10
    opened: int = 100_000
    searched: int = 100_000
    moved: int = 20_000


NORMAL = Sizes()
FULL = Sizes(growth=(10_000, 100_000, 1_000_000), opened=1_000_000, searched=1_000_000, moved=100_000)
QUICK = Sizes(
    appends=10,
    growth=(20, 50),
    batches=1,
    batch=50,
    imports=1,
    imported_sessions=1,
    imported_files=2,
    imported_messages=10,
    loads=2,
    conversations=1,
    conversation=50,
    lists=2,
    sessions=5,
    opened=50,
    searched=50,
    moved=200,
)
