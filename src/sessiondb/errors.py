"""The error tree: a type to catch, a sentence to read, a way out.

Drivers' exceptions are translated once, by their code, at the edge of a backend; the original is kept as `__cause__`.
"""

from __future__ import annotations


class SessionDBError(Exception):
    """Something the store could not do."""

    exit_code = 1


class NotFound(SessionDBError, LookupError):
    """No such session, message or tag."""

    exit_code = 3

    def __str__(self) -> str:
        # LookupError's subclasses may quote their argument; the sentence is meant to be read.
        return Exception.__str__(self)


class Conflict(SessionDBError):
    """Somebody else was there first."""

    exit_code = 4


class TitleTaken(Conflict, ValueError):
    """Another session has this title."""


class AlreadyExists(Conflict):
    """The id is in use."""


class Invalid(SessionDBError, ValueError):
    """The caller's value cannot be stored or understood."""

    exit_code = 2


class NotSupported(SessionDBError):
    """This provider does not offer that, and says so in its features."""


class Unavailable(SessionDBError):
    """The store cannot be reached now; the same handle works again later."""

    exit_code = 5


class Busy(Unavailable):
    """Other writers held the store until the deadline."""


class ConnectionLost(Unavailable):
    """The server went away."""


class DiskFull(Unavailable):
    """No room left; nothing of the failed write remains."""


class SchemaError(SessionDBError):
    """The file's or server's schema does not fit this version."""

    exit_code = 6


class SchemaTooNew(SchemaError):
    """Written by a newer version, or by another program."""


class SchemaOutdated(SchemaError):
    """Older than this version, and not to be upgraded here."""


class Corrupt(SessionDBError):
    """The data file is damaged."""

    exit_code = 6


class IndexCorrupt(SessionDBError):
    """The search index is damaged; a rebuild heals it, messages are safe."""

    exit_code = 6


class Closed(SessionDBError):
    """The handle was closed."""


class ImportProblem(SessionDBError):
    """A history could not be read."""


class MissingExtra(SessionDBError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package: pip install 'sessiondb[{extra}]'")
