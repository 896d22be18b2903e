"""The laws on memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessiondb.backends.memory import MemoryProvider
from sessiondb.testing import Laws

Rows = list[dict[str, Any]]


class TestMemory(Laws):
    provider = MemoryProvider

    @pytest.fixture
    def tamper(self) -> Callable[[MemoryProvider, str, Callable[[Rows], Rows]], None]:
        def tamper(provider: MemoryProvider, session_id: str, edit: Callable[[Rows], Rows]) -> None:
            rows = provider.tables.sessions[session_id].messages
            rows[:] = edit(rows)

        return tamper
