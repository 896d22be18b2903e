"""A model that answers, a platform, and a home for gateways."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import ModelServer
from platforms import PLATFORMS, Platform


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(params=PLATFORMS, ids=lambda kind: kind.name)
def platform(request: pytest.FixtureRequest) -> Iterator[Platform]:
    with request.param() as server:
        yield server


@pytest.fixture
def home(fast_path: Path) -> Path:
    return fast_path / "home"
