"""Stores on all engines, and figures at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from move_stores import NewPlace, places

# Files as the original's versions left them are built in one, how long a test is in the other.
sys.path += [str(Path(__file__).parent.parent / "sqlite"), str(Path(__file__).parent.parent / "reliability")]

_FIGURE = "moving figure"


@pytest.fixture
def new_place(fast_path: Path) -> Iterator[NewPlace]:
    with places(fast_path) as new:
        yield new


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """A line of figures for the summary."""
    return lambda line: record_property(_FIGURE, line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", [])
    lines = [value for report in passed for name, value in report.user_properties if name == _FIGURE]
    if lines:
        terminalreporter.section("moving figures")
        for line in lines:
            terminalreporter.write_line(line)
