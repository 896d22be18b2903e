"""All laws, through the asynchronous facade."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from async_bridge import Bridge

from sessiondb.backends.sqlite import SQLiteProvider
from sessiondb.testing import FakeClock, Laws

OpenProvider = Callable[..., Any]
NewStore = Callable[[], dict[str, Any]]


class TestSQLiteAwaited(Laws):
    provider = SQLiteProvider

    @pytest.fixture
    def new_store(self, fast_path: Path) -> NewStore:
        return lambda: {"path": fast_path / f"{uuid4().hex}.db", "deadline": 5.0}

    @pytest.fixture
    def db(self, open_provider: OpenProvider, new_store: NewStore, clock: FakeClock) -> Iterator[Bridge]:
        bridge = Bridge(provider=open_provider(**new_store()), clock=clock)
        yield bridge
        bridge.end()

    @pytest.fixture
    def other_db(self, open_provider: OpenProvider, new_store: NewStore, clock: FakeClock) -> Iterator[Bridge]:
        bridge = Bridge(provider=open_provider(**new_store()), clock=clock)
        yield bridge
        bridge.end()
