"""What the driver's errors mean: a typed error by SQLSTATE, and whether it is worth trying again."""

from __future__ import annotations

import psycopg

from ... import errors

Meaning = tuple[type[errors.SessionDBError], str]

# Somebody else was there at the same moment; the whole transaction may run again.
COLLISIONS = frozenset({"40001", "40P01"})
# A row of somebody else's stands in the way: run again, he is seen then, and the answer names him.
FOUND_TAKEN = frozenset({"23505", "23503"})

_LOST: Meaning = (errors.ConnectionLost, "the connection to {place} was lost ({error})")
_MEANING: dict[str, Meaning] = {
    "08": _LOST,
    "57P01": _LOST,
    "57P02": _LOST,
    "57P03": (errors.ConnectionLost, "{place} is starting or stopping; try again"),
    "22": (errors.Invalid, "{place} cannot hold this value: {error}"),
    "23503": (errors.NotFound, "the session it refers to does not exist"),
    "23505": (errors.Conflict, "another row has the same key: {error}"),
    "23": (errors.Conflict, "{place} refuses this row: {error}"),
    "25006": (errors.Unavailable, "{place} only lets us read; target_session_attrs=read-write finds the primary"),
    "28P01": (errors.Unavailable, "{place} refuses the password; check user and password of the DSN"),
    "28": (errors.Unavailable, "{place} does not let us in: {error}; check user and pg_hba.conf"),
    "a pooler": (errors.Unavailable, "{place} is a pooler ({error}); set prepare_threshold: off (docs/providers.md)"),
    "3D000": (errors.Unavailable, "{place} does not exist: {error}; CREATE DATABASE makes it"),
    "3F000": (errors.SchemaError, "{place} has no such schema: {error}"),
    "40": (errors.Busy, "{place} is in use by other writers; try again"),
    "42501": (errors.Unavailable, "this role may not do that: {error}; docs/providers.md lists what to grant"),
    "42P01": (errors.SchemaError, "{place} lacks a table: {error}; open it with upgrade=True"),
    "53100": (errors.DiskFull, "no room left on {place}; free some space, then go on with the same handle"),
    "53300": (errors.Busy, "{place} has no connection left: {error}; lower pool_size or raise max_connections"),
    "53": (errors.Unavailable, "{place} is out of resources: {error}"),
    "54": (errors.Invalid, "a value is too large for {place}: {error}"),
    "55P03": (errors.Busy, "another transaction on {place} held a row until the deadline; try again"),
    "57014": (errors.Busy, "{place} cancelled a statement: {error}; see its statement_timeout"),
    "XX001": (errors.Corrupt, "{place} reports damaged data: {error}"),
    "XX002": (errors.Corrupt, "{place} reports a damaged index: {error}; REINDEX heals it"),
}  # fmt: skip


def is_lost(exc: psycopg.Error) -> bool:
    """Whether the connection is gone, and with it the knowledge of what the server did last."""
    state = exc.sqlstate or ""
    return state.startswith(("08", "57P")) or (isinstance(exc, psycopg.OperationalError) and not state)


def translated(exc: psycopg.Error, place: str) -> errors.SessionDBError:
    """The typed error for a driver's, told by its code."""
    state = exc.sqlstate or ""
    unknown: Meaning = _LOST if is_lost(exc) else (errors.SessionDBError, "{place}: {error}")
    kind, sentence = _MEANING.get(state) or _MEANING.get(state[:2]) or unknown
    return kind(sentence.format(place=place, error=sentence_of(exc)))


def sentence_of(exc: psycopg.Error) -> str:
    """The server's first line; details would quote what people wrote."""
    primary = exc.diag.message_primary or str(exc) or type(exc).__name__
    return primary.strip().splitlines()[0].strip()


# libpq gives no code for a refused connection, only its sentence.
_REFUSALS: tuple[tuple[str, str], ...] = (
    ("password authentication failed", "28P01"),
    ("no pg_hba.conf entry", "28"),
    ("unsupported startup parameter", "a pooler"),
    ("role ", "28"),
    ("database ", "3D000"),
    ("too many clients", "53300"),
    ("remaining connection slots", "53300"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
)


def refused(exc: psycopg.Error, place: str) -> errors.SessionDBError:
    """The typed error for a connection that could not be made."""
    said = str(exc).strip().splitlines()
    fatal = next((line.partition("FATAL:")[2].strip() for line in said if "FATAL:" in line), None)
    if fatal is not None:
        code = next((code for words, code in _REFUSALS if words in fatal), "28")
        kind, sentence = _MEANING[code]
        return kind(sentence.format(place=place, error=fatal))
    if any("no password supplied" in line for line in said):
        return errors.Unavailable(f"{place} asks for a password, and there is none in the DSN or in PGPASSWORD")
    # What libpq asks back after a refused connection is no reason.
    told = [line.strip() for line in said if not line.strip().endswith("?")]
    reason = told[-1] if told else type(exc).__name__
    return errors.Unavailable(
        f"{place} cannot be reached: {reason}; check that it runs and that host and port are right"
    )
