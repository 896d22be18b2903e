"""Every line of the log is JSON, and none of them tells what people wrote."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from sessiondb.gateway.logs import to_lines


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    ours, root = logging.getLogger("sessiondb"), logging.getLogger()
    level, propagates = ours.level, ours.propagate
    stream = io.StringIO()
    handler = to_lines(stream)
    yield stream
    for logger in (ours, root):
        logger.removeHandler(handler)
    ours.level, ours.propagate = level, propagates


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_what_happened_is_a_line_with_its_fields(stream: io.StringIO) -> None:
    logging.getLogger("sessiondb.gateway.host").info("message", extra={"fields": {"channel": "slack"}})
    (line,) = lines(stream)
    assert (line["event"], line["channel"], line["level"]) == ("message", "slack", "info")


def test_of_other_packages_only_that_they_warned_is_told(stream: io.StringIO) -> None:
    other = logging.getLogger("asyncio")
    other.info("https://api.telegram.org/bot123:TOKEN")
    try:
        raise ValueError("what somebody wrote")
    except ValueError:
        other.exception("Task failed with %s", "what somebody wrote")
    (line,) = lines(stream)
    assert (line["logger"], line["level"], line["event"], line["error"]) == (
        "asyncio", "error", "warned", "ValueError",
    )  # fmt: skip
    assert "somebody" not in stream.getvalue()
