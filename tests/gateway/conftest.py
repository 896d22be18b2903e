"""A store on every provider, and a clock that tests move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from servers import mysql_stores
from servers.postgres import schemas
from sessiondb import SessionDB, registry
from sessiondb.gateway.router import Router
from sessiondb.testing import FakeClock

PROVIDERS = ("memory", "sqlite", "postgresql", "mysql")
NewRouter = Callable[..., Router]


@pytest.fixture(scope="session")
def mysql() -> Iterator[mysql_stores.Stores]:
    with mysql_stores.opened() as opened:
        yield opened


@contextmanager
def options_of(provider: str, path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[], dict[str, Any]]]:
    if provider == "postgresql":
        with schemas.lent() as lent:
            yield lent.options
    elif provider == "mysql":
        stores: mysql_stores.Stores = request.getfixturevalue("mysql")
        yield stores.new
        stores.recycle()
    elif provider == "sqlite":
        yield lambda: {"path": path / f"{uuid4().hex}.db"}
    else:
        yield dict


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=PROVIDERS)
def new_options(request: pytest.FixtureRequest, fast_path: Path) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    with options_of(request.param, fast_path, request) as new:
        yield request.param, new


@pytest.fixture
def everywhere(new_options: tuple[str, Callable[[], dict[str, Any]]], clock: FakeClock) -> Iterator[SessionDB]:
    """The same test on every provider."""
    name, new = new_options
    provider = registry.load("providers", name)()
    provider.initialize(**new())
    with SessionDB(provider=provider, clock=clock) as db:
        yield db


@pytest.fixture
def db(clock: FakeClock) -> Iterator[SessionDB]:
    with SessionDB("memory://", clock=clock) as db:
        yield db


@pytest.fixture
def router(db: SessionDB, clock: FakeClock) -> NewRouter:
    return lambda **options: Router(db, clock=clock, **options)
