"""Stores on a disk, a nursery for the processes around them, and the figures that are printed at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nursery import Nursery

# Files as the original's versions left them are built there.
sys.path.append(str(Path(__file__).parent.parent / "sqlite"))

Say = Callable[..., None]
_LINES = pytest.StashKey[list[str]]()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store's path on a disk: what is killed must be durable."""
    return tmp_path / "home" / "state.db"


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as opened:
        yield opened


@pytest.fixture(scope="session")
def say(request: pytest.FixtureRequest) -> Say:
    """say("16 writers", p50="0.3 ms"): a line of figures for the summary."""
    lines = request.config.stash.setdefault(_LINES, [])

    def add(what: str, **figures: object) -> None:
        told = ", ".join(f"{name.replace('_', ' ')} {_short(value)}" for name, value in figures.items())
        lines.append(f"{what}: {told}")

    return add


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = terminalreporter.config.stash.get(_LINES, [])
    if lines:
        terminalreporter.section("reliability figures")
        for line in lines:
            terminalreporter.write_line(line)
