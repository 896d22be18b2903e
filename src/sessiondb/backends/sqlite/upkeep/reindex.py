"""A new search index in the place of the old one; others may search and write meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable

from ....errors import NotFound
from ..index import files
from ..provider import SQLiteProvider


def reindex(path: str, tick: Callable[[int, int], None] | None = None) -> int:
    """Throw the index away, read all messages into a new one, and tell how many bytes it takes.

    Interrupted, it leaves a part, which searches go on with.
    """
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        raise NotFound(f"no store at {path}")
    for _, old in files.generations(path):
        files.remove(old)
    provider = SQLiteProvider()
    provider.initialize(path=path, upgrade=False)
    try:
        provider.update_index(tick)
        return provider.index_bytes()
    finally:
        provider.shutdown()
