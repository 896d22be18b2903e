"""The laws on MariaDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from servers import mysql_stores as stores
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.models import MESSAGE_COLUMNS
from sessiondb.testing import Laws

Rows = list[dict[str, Any]]

REMOVE = "DELETE FROM messages WHERE session_id = :session_id"
INSERT = f"""
    INSERT INTO messages ({", ".join(MESSAGE_COLUMNS)})
    VALUES ({", ".join(f":{name}" for name in MESSAGE_COLUMNS)})
"""


@pytest.fixture(scope="session")
def all_stores() -> Iterator[stores.Stores]:
    with stores.opened() as opened:
        yield opened


class TestMySQL(Laws):
    provider = MySQLProvider

    @pytest.fixture
    def new_store(self, all_stores: stores.Stores) -> Iterator[Callable[[], dict[str, Any]]]:
        yield all_stores.new
        all_stores.recycle()

    @pytest.fixture
    def tamper(self) -> Callable[[MySQLProvider, str, Callable[[Rows], Rows]], None]:
        def tamper(provider: MySQLProvider, session_id: str, edit: Callable[[Rows], Rows]) -> None:
            rows = edit(list(provider.stored_messages(session_id)))

            def rewrite(tx: Any) -> None:
                tx.run(REMOVE, {"session_id": session_id})
                for row in rows:
                    tx.run(INSERT, row)

            provider.driver.write(rewrite)

        return tamper
