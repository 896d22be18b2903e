"""The seam between the SQL core and a database: transactions in which statements run.

`@read` and `@write` turn a method that takes a transaction into a primitive that is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Row = tuple[Any, ...]
Params = Mapping[str, Any]

P = ParamSpec("P")
R = TypeVar("R")


class Tx(Protocol):
    """An open transaction."""

    def rows(self, sql: str, params: Params = ...) -> list[Row]: ...

    def row(self, sql: str, params: Params = ...) -> Row | None: ...

    def run(self, sql: str, params: Params = ...) -> int:
        """Execute and return the number of changed rows."""

    def insert(self, sql: str, params: Params = ...) -> int | None:
        """Execute an INSERT and return the new id; None when no row was inserted."""

    def insert_counted(self, sql: str, count: str, params: Params, *, plain: bool = False) -> int | None:
        """Execute an INSERT and the UPDATE that counts its row; the new id, None when one of them changed nothing.

        `plain`: all texts are known to be ASCII.
        """

    def insert_many(self, sql: str, params: Sequence[Params], *, plain: Sequence[bool] = ()) -> list[int]:
        """Insert rows in order and return their ids; `plain`: which of them are known to be ASCII."""

    def run_many(self, sql: str, params: Sequence[Params]) -> None:
        """Execute once for each, in order, in as few round trips as the driver can."""


class OneByOne:
    """For drivers that send a statement at a time."""

    def insert_counted(self: Tx, sql: str, count: str, params: Params, *, plain: bool = False) -> int | None:
        new_id = self.insert(sql, params)
        return new_id if new_id is not None and self.run(count, params) else None


class Driver(Protocol):
    def read(self, work: Callable[[Tx], R]) -> R:
        """Run `work` on a snapshot."""

    def write(self, work: Callable[[Tx], R]) -> R:
        """Run `work` in a transaction and return after it is durable.

        `work` may run more than once: whatever it did before is rolled back first.
        """


class HasDriver(Protocol):
    driver: Driver


S = TypeVar("S", bound=HasDriver)


def read(method: Callable[Concatenate[S, Tx, P], R]) -> Callable[Concatenate[S, P], R]:
    @wraps(method)
    def primitive(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.driver.read(lambda tx: method(self, tx, *args, **kwargs))

    return primitive


def write(method: Callable[Concatenate[S, Tx, P], R]) -> Callable[Concatenate[S, P], R]:
    @wraps(method)
    def primitive(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.driver.write(lambda tx: method(self, tx, *args, **kwargs))

    return primitive
