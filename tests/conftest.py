"""What all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

MEMORY = "/dev/shm"

# A shell that runs the tests in the background lets them and all their children ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def fast_path(tmp_path: Path) -> Iterator[Path]:
    """A directory for stores that need no durability: in memory where the machine offers that."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else tmp_path
    with TemporaryDirectory(prefix="sessiondb-test-", dir=place) as directory:
        yield Path(directory)
