"""A store on every provider, and a clock that tests move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gateway_stores import options_of

from servers import mysql_stores
from sessiondb import SessionDB, registry
from sessiondb.gateway.router import Router
from sessiondb.testing import FakeClock

PROVIDERS = ("memory", "sqlite", "postgresql", "mysql")
NewRouter = Callable[..., Router]


@pytest.fixture(scope="session")
def mysql() -> Iterator[mysql_stores.Stores]:
    with mysql_stores.opened() as opened:
        yield opened


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
