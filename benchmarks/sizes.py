"""How much is done: a look in three minutes, enough for steady medians, or up to a million messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    name: str = "normal"
    rounds: int = 9
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
    # What a server holds, to be searched.
    served: int = 100_000
    # Processes that write to one store at once; what each of them appends in a round.
    writers: tuple[int, ...] = (8, 16)
    crowd: int = 50
    # Threads of one process that write at once, and to what.
    threads: tuple[int, ...] = (1, 8, 64)
    committed: tuple[str, ...] = ("sqlite", "postgres", "mariadb", "galera")
    # What is weighed on disk, in messages; transcripts that come in and go out, in megabytes.
    weighed: int = 10_000
    transcripts: int = 100
    # Lists and searches of whole processes, of those who need long to fill a store.
    started: int = 1000
    # Messages that move to another provider.
    moved: int = 20_000


NORMAL = Sizes()
FULL = Sizes(
    "full",
    rounds=5,
    growth=(10_000, 100_000, 1_000_000),
    opened=1_000_000,
    searched=1_000_000,
    transcripts=1000,
    started=10_000,
    moved=100_000,
)
QUICK = Sizes(
    "quick",
    rounds=3,
    appends=60,
    growth=(1_000, 10_000),
    batch=500,
    imported_sessions=10,
    imported_files=10,
    loads=5,
    conversations=2,
    lists=10,
    sessions=1_000,
    opened=5_000,
    searched=5_000,
    served=5_000,
    writers=(8,),
    crowd=15,
    committed=("sqlite", "postgres", "mariadb"),
    weighed=1_000,
    transcripts=10,
    moved=2_000,
)
# A few messages: proves that it runs, measures nothing.
TINY = Sizes(
    "tiny",
    rounds=1,
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
    served=50,
    writers=(2,),
    crowd=3,
    threads=(1, 4),
    committed=("sqlite",),
    weighed=50,
    transcripts=1,
    started=20,
    moved=200,
)
