"""A store under the old import name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sessiondb.compat.hermes_state import SessionDB


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def db(path: Path) -> Iterator[SessionDB]:
    with SessionDB(path) as store:
        yield store
