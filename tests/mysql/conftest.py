"""What the tests of the MySQL backend share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from servers import mysql_stores
from servers.mysql_stores import Open, Stores
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.db import SessionDB


@pytest.fixture(scope="session")
def all_stores() -> Iterator[Stores]:
    with mysql_stores.opened() as opened:
        yield opened


@pytest.fixture
def stores(all_stores: Stores) -> Iterator[Stores]:
    yield all_stores
    all_stores.recycle()


@pytest.fixture
def open_db() -> Iterator[Open]:
    with ExitStack() as opened:

        def open_one(options: dict[str, Any], **more: Any) -> SessionDB:
            provider = MySQLProvider()
            provider.initialize(**{**options, **more})
            opened.callback(provider.shutdown)
            return SessionDB(provider=provider)

        yield open_one


@pytest.fixture
def db(stores: Stores, open_db: Open) -> SessionDB:
    return open_db(stores.new())
