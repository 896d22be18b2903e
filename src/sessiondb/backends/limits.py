"""How many connections a server may be asked for, and how long anybody waits: as numbers, or refused by name."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..config_file import Check, seconds, whole
from ..errors import Invalid


class Limits(NamedTuple):
    pool_size: int
    max_overflow: int
    deadline: float


def limits(pool_size: Any, max_overflow: Any, deadline: Any) -> Limits:
    """The options as numbers. Raises Invalid."""
    found = Limits(
        checked("pool_size", whole, pool_size),
        checked("max_overflow", whole, max_overflow),
        checked("deadline", seconds, deadline),
    )
    if not found.pool_size:
        raise Invalid("pool_size must be at least 1: without a connection nothing can be asked")
    if not found.deadline:
        raise Invalid("deadline must be more than 0 seconds: a connection alone takes some time")
    return found


def checked(name: str, check: Check, value: Any) -> Any:
    """An option as config.yaml would read it. Raises Invalid."""
    try:
        return check(value)
    except ValueError as exc:
        raise Invalid(f"{name} must be {exc}, not {value!r}") from None
