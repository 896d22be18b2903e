"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

MEMORY = "/dev/shm"


@pytest.fixture
def fast_path(tmp_path: Path) -> Iterator[Path]:
    """A directory for stores that need no durability: in memory where the machine offers that."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else tmp_path
    with TemporaryDirectory(prefix="sessiondb-test-", dir=place) as directory:
        yield Path(directory)
