"""Stores to import into, and a short way to do it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.importers import known
from sessiondb.importers.report import Report
from sessiondb.importers.runner import Runner

Bring = Callable[..., Report]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    with SessionDB(tmp_path / "store" / "state.db") as db:
        yield db


@pytest.fixture
def bring(db: SessionDB) -> Bring:
    """Import files or directories, as the command does."""

    def run(*paths: Path, **wishes: object) -> Report:
        return Runner(db, **wishes).run(known.at_paths(paths, known.chosen(())))  # type: ignore[arg-type]

    return run
