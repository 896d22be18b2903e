"""How many connections a server may be asked for, and how long anybody waits: options that every server has."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..config_file import seconds, whole
from ..errors import Invalid


class Limits(NamedTuple):
    pool_size: int
    max_overflow: int
    deadline: float


def limits(pool_size: Any, max_overflow: Any, deadline: Any) -> Limits:
    """The options as numbers. Raises Invalid."""
    checked = Limits(
        _checked("pool_size", whole, pool_size),
        _checked("max_overflow", whole, max_overflow),
        _checked("deadline", seconds, deadline),
    )
    if not checked.pool_size:
        raise Invalid("pool_size must be at least 1: without a connection nothing can be asked")
    if not checked.deadline:
        raise Invalid("deadline must be more than 0 seconds: a connection alone takes some time")
    return checked


def _checked(name: str, check: Any, value: Any) -> Any:
    try:
        return check(value)
    except ValueError as exc:
        raise Invalid(f"{name} must be {exc}, not {value!r}") from None
