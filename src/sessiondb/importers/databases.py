"""SQLite files among the sources: which tables they have, and JSON in their columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import ImportProblem
from .source import Source

MAGIC = b"SQLite format 3\x00"


def is_database(head: bytes) -> bool:
    return head.startswith(MAGIC)


def is_file(path: Path) -> bool:
    """Whether a file is a database. Raises OSError."""
    with path.open("rb") as file:
        return is_database(file.read(len(MAGIC)))


def has(path: Path, tables: Mapping[str, Sequence[str]]) -> bool:
    """Whether a database has these tables with these columns."""
    try:
        with Source(path).tables() as found:
            return all({*columns} <= {*found.columns(table)} for table, columns in tables.items())
    except ImportProblem:
        return False


def decoded(value: Any) -> Any:
    """The JSON in a column; None where there is none, or none that can be read."""
    try:
        return json.loads(value) if isinstance(value, str | bytes) and value else None
    except (ValueError, RecursionError):
        return None
