"""Figures that are printed at the end, wherever the test ran, and stores to damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sessiondb.db import SessionDB

_FIGURE = "upkeep figure"


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """A line of figures for the summary."""
    return lambda line: record_property(_FIGURE, line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", [])
    lines = [value for report in passed for name, value in report.user_properties if name == _FIGURE]
    if lines:
        terminalreporter.section("upkeep figures")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture
def path(fast_path: Path) -> Path:
    return fast_path / "state.db"


@pytest.fixture
def talk(path: Path) -> Path:
    """A small store, closed."""
    with SessionDB(path, synchronous="NORMAL") as db:
        for name in ("a", "b"):
            db.create_session(name, "cli")
            db.append_messages(name, [{"role": "user", "content": f"{name} {at}"} for at in range(5)])
    return path


@pytest.fixture(scope="session")
def workshop() -> Iterator[Path]:
    """A directory for stores that many tests damage copies of."""
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with TemporaryDirectory(prefix="sessiondb-test-", dir=place) as directory:
        yield Path(directory)
