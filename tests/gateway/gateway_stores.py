"""Empty stores of every provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from servers import mysql_stores
from servers.postgres import schemas


@contextmanager
def options_of(provider: str, path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[], dict[str, Any]]]:
    if provider == "postgresql":
        with schemas.lent() as lent:
            yield lent.options
    elif provider == "mysql":
        stores: mysql_stores.Stores = request.getfixturevalue("mysql")
        yield stores.new
        stores.recycle()
    elif provider == "sqlite":
        yield lambda: {"path": path / f"{uuid4().hex}.db"}
    else:
        yield dict
