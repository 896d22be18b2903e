"""Stores for the tools that agents call: in memory, and on SQLite with its index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from recall_names import Tell

from chat_endpoint import ChatEndpoint
from sessiondb import SessionDB
from sessiondb.backends.memory import MemoryProvider
from sessiondb.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def db(request: pytest.FixtureRequest, clock: FakeClock, fast_path: Path) -> Iterator[SessionDB]:
    if request.param == "memory":
        provider = MemoryProvider()
        provider.initialize()
        store = SessionDB(provider=provider, clock=clock)
    else:
        store = SessionDB(fast_path / "recall.db", clock=clock, synchronous="NORMAL")
    with store:
        yield store


@pytest.fixture
def tell(db: SessionDB, clock: FakeClock) -> Tell:
    """A conversation, user and assistant in turn, a second apart; answers the ids of its messages."""

    def told(session_id: str, *texts: str, source: str = "cli", age: float = 0.0, **fields: str) -> list[int]:
        db.create_session(session_id, source, started_at=clock.now - age, **fields)
        turns = enumerate(texts)
        return db.append_messages(
            session_id,
            [
                {"role": ("user", "assistant")[turn % 2], "content": text, "timestamp": clock.now - age + turn}
                for turn, text in turns
            ],
        )

    return told


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as server:
        yield server
