"""What is at the other end of a stream: a person's terminal and its size, or a pipe."""

from __future__ import annotations

import os
import sys
from typing import Any

_USUAL_SIZE = (80, 24)


def is_terminal(stream: Any) -> bool:
    try:
        return os.isatty(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return False


def columns(stream: Any = None) -> int | None:
    """How wide a terminal is; None for anything else, where lines need no end."""
    stream = sys.stdout if stream is None else stream
    return _size(stream, "COLUMNS", 0) if is_terminal(stream) else None


def rows(stream: Any = None) -> int | None:
    stream = sys.stdout if stream is None else stream
    return _size(stream, "LINES", 1) if is_terminal(stream) else None


def _size(stream: Any, variable: str, axis: int) -> int:
    said = os.environ.get(variable, "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    # A terminal that does not know its size answers 0.
    return os.get_terminal_size(stream.fileno())[axis] or _USUAL_SIZE[axis]
