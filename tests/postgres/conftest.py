"""Stores on the private PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from servers.postgres import PostgreSQL, schemas, server
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.db import SessionDB


@pytest.fixture
def postgres() -> PostgreSQL:
    return server()


@pytest.fixture
def options() -> Iterator[dict[str, Any]]:
    """How to open an empty store."""
    with schemas.lent() as lent:
        yield lent.options()


@pytest.fixture
def opened(options: dict[str, Any]) -> Iterator[Callable[..., SessionDB]]:
    """Opens the store, with other options where given."""
    with ExitStack() as stack:

        def open_one(**others: Any) -> SessionDB:
            provider = PostgreSQLProvider()
            provider.initialize(**{**options, **others})
            return stack.enter_context(SessionDB(provider=provider))

        yield open_one
