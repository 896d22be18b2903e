"""The laws on SQLite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sessiondb.backends.sqlite import SQLiteProvider
from sessiondb.models import MESSAGE_COLUMNS
from sessiondb.testing import Laws

Rows = list[dict[str, Any]]

REMOVE = "DELETE FROM messages WHERE session_id = :session_id"
INSERT = f"""
    INSERT INTO messages ({", ".join(MESSAGE_COLUMNS)})
    VALUES ({", ".join(f":{name}" for name in MESSAGE_COLUMNS)})
"""


class TestSQLite(Laws):
    provider = SQLiteProvider

    @pytest.fixture
    def new_store(self, fast_path: Path) -> Callable[[], dict[str, Any]]:
        return lambda: {"path": fast_path / f"{uuid4().hex}.db", "deadline": 5.0}

    @pytest.fixture
    def tamper(self) -> Callable[[SQLiteProvider, str, Callable[[Rows], Rows]], None]:
        def tamper(provider: SQLiteProvider, session_id: str, edit: Callable[[Rows], Rows]) -> None:
            rows = edit(list(provider.stored_messages(session_id)))

            def rewrite(tx: Any) -> None:
                tx.run(REMOVE, {"session_id": session_id})
                for row in rows:
                    tx.run(INSERT, row)

            provider.driver.write(rewrite)

        return tamper
