"""The laws on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from servers.postgres import schemas
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.models import MESSAGE_COLUMNS
from sessiondb.testing import Laws

Rows = list[dict[str, Any]]

REMOVE = "DELETE FROM messages WHERE session_id = :session_id"


def insert(columns: tuple[str, ...]) -> str:
    return f"INSERT INTO messages ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"


class TestPostgreSQL(Laws):
    provider = PostgreSQLProvider

    @pytest.fixture
    def new_store(self) -> Iterator[Callable[[], dict[str, Any]]]:
        with schemas.lent() as lent:
            yield lent.options

    @pytest.fixture
    def tamper(self) -> Callable[[PostgreSQLProvider, str, Callable[[Rows], Rows]], None]:
        def tamper(provider: PostgreSQLProvider, session_id: str, edit: Callable[[Rows], Rows]) -> None:
            rows = edit(list(provider.stored_messages(session_id)))

            def rewrite(tx: Any) -> None:
                tx.run(REMOVE, {"session_id": session_id})
                for row in rows:
                    # Without an id the row gets a new one.
                    tx.run(insert(MESSAGE_COLUMNS if row["id"] is not None else MESSAGE_COLUMNS[1:]), row)

            provider.driver.write(rewrite)

        return tamper
