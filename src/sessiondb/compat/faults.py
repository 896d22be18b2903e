"""Our errors, each also the exception that callers of the original caught.

Only names are taken from the standard library's sqlite3: a second SQLite in the process never touches a store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import getattr_static, isfunction, isgeneratorfunction
from typing import ParamSpec, TypeVar

from .. import errors

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)


class OtherError(errors.SessionDBError, sqlite3.DatabaseError):
    """What SQLite said has no type of its own here."""


class NotFound(errors.NotFound, sqlite3.IntegrityError):
    """An unknown session or parent used to break a foreign key."""


class Conflict(errors.Conflict, sqlite3.IntegrityError):
    """Somebody else was there first."""


class AlreadyExists(errors.AlreadyExists, sqlite3.IntegrityError):
    """The id is in use."""


class NotSupported(errors.NotSupported, sqlite3.OperationalError):
    """A write to a store that is open for reading only, above all."""


class Unavailable(errors.Unavailable, sqlite3.OperationalError):
    """The file cannot be opened or written now."""


class Busy(errors.Busy, sqlite3.OperationalError):
    """Known to callers as "database is locked"."""


class DiskFull(errors.DiskFull, sqlite3.OperationalError):
    """No room left."""


class SchemaTooNew(errors.SchemaTooNew, sqlite3.DatabaseError):
    """Written by a newer version, or by another program."""


class SchemaOutdated(errors.SchemaOutdated, sqlite3.DatabaseError):
    """Written by the original, and not to be upgraded here."""


class Corrupt(errors.Corrupt, sqlite3.DatabaseError):
    """The file is damaged, or no database at all."""


class IndexCorrupt(errors.IndexCorrupt, sqlite3.DatabaseError):
    """The search index is damaged."""


class Closed(errors.Closed, sqlite3.ProgrammingError, AttributeError):
    """The original had no connection left to ask after `close`, and said so as an AttributeError."""


class NoFile(errors.NotFound, sqlite3.OperationalError):
    """Nothing to open for reading."""


class NoStore(errors.Invalid, sqlite3.OperationalError):
    """A directory, or something else that cannot hold a database."""


Twins = dict[type[errors.SessionDBError], type[errors.SessionDBError]]

# TitleTaken and Invalid are missing: the original raised a plain ValueError there, and they are one.
TWINS: Twins = {
    errors.SessionDBError: OtherError,
    errors.NotFound: NotFound,
    errors.Conflict: Conflict,
    errors.AlreadyExists: AlreadyExists,
    errors.NotSupported: NotSupported,
    errors.Unavailable: Unavailable,
    errors.Busy: Busy,
    errors.DiskFull: DiskFull,
    errors.SchemaTooNew: SchemaTooNew,
    errors.SchemaOutdated: SchemaOutdated,
    errors.Corrupt: Corrupt,
    errors.IndexCorrupt: IndexCorrupt,
    errors.Closed: Closed,
}
OPENING: Twins = {**TWINS, errors.NotFound: NoFile, errors.Invalid: NoStore}


@contextmanager
def as_sqlite_errors(twins: Twins = TWINS) -> Iterator[None]:
    """Raise the twin of an error instead of it; what has none passes as it is."""
    try:
        yield
    except errors.SessionDBError as exc:
        twin = twins.get(type(exc))
        if twin is None:
            raise
        raise twin(*exc.args) from exc


def _translated(method: Callable[P, T]) -> Callable[P, T]:
    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with as_sqlite_errors():
            return method(*args, **kwargs)

    return call


def _translated_stream(method: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    @wraps(method)
    def stream(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        with as_sqlite_errors():
            yield from method(*args, **kwargs)

    return stream


def raises_sqlite_errors(cls: C) -> C:
    """Let every public method of a class, inherited ones too, raise the twins."""
    for name in dir(cls):
        method = getattr_static(cls, name)
        if isfunction(method) and not name.startswith("_"):
            wrap = _translated_stream if isgeneratorfunction(method) else _translated
            setattr(cls, name, wrap(method))
    return cls
