"""Figures of clusters, printed at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# How long a test is, is told there.
sys.path.append(str(Path(__file__).parent.parent / "reliability"))

_FIGURE = "cluster figure"


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """A line of figures for the summary."""
    return lambda line: record_property(_FIGURE, line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", [])
    lines = [value for report in passed for name, value in report.user_properties if name == _FIGURE]
    if lines:
        terminalreporter.section("cluster figures")
        for line in lines:
            terminalreporter.write_line(line)
