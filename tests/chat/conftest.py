"""An endpoint that says what a test wants, a store, and somebody who listens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_helpers import Ear

from chat_endpoint import ChatEndpoint
from sessiondb import SessionDB
from sessiondb.chat.loop import Agent
from sessiondb.chat.own import OwnDesk, OwnTalk


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with ChatEndpoint() as server:
        yield server


@pytest.fixture
def db(fast_path: Path) -> Iterator[SessionDB]:
    with SessionDB(fast_path / "chat.db", synchronous="NORMAL") as store:
        yield store


@pytest.fixture
def agent(db: SessionDB, endpoint: ChatEndpoint) -> Agent:
    return Agent(db, endpoint.endpoint())


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def desk(db: SessionDB) -> OwnDesk:
    return OwnDesk(db)


@pytest.fixture
def talk(desk: OwnDesk, ear: Ear) -> OwnTalk:
    """Somebody has asked a question."""
    return desk.say("what runs on port 80?", ear.notice)
