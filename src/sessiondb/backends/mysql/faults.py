"""What the driver's errors mean, told by their number."""

from __future__ import annotations

import pymysql  # type: ignore[import-untyped,unused-ignore]

from ... import errors

DriverError = pymysql.err.MySQLError

DUPLICATE = 1062
DEADLOCK = 1213
# The server undid the transaction (or it is undone here): run it again.
CONTENDED = frozenset({1205, DEADLOCK, 1020, 1637})
# The connection is gone, and with it what was not committed.
LOST = frozenset({0, 1053, 1152, 1184, 1927, 2006, 2013, 2014, 2055, 4031})
# A node of a cluster that is not (or no longer) part of it.
UNREADY = 1047
# Nobody answers, or nobody may come in now.
UNREACHABLE = frozenset({1040, 1203, 2002, 2003, 2005, UNREADY})

_MEANING: dict[int, tuple[type[errors.SessionDBError], str]] = {
    1020: (errors.Busy, "other writers hold the rows of {address}; try again"),
    UNREADY: (errors.Unavailable, "the node of {address} is not part of its cluster now; name other nodes beside it"),
    1205: (errors.Busy, "other writers held the rows of {address} until the deadline; try again"),
    1213: (errors.Busy, "writers of {address} blocked each other until the deadline; try again"),
    1040: (errors.Busy, "the server of {address} takes no more connections; raise max_connections or lower pool_size"),
    1203: (errors.Busy, "the user of {address} has too many connections; lower pool_size"),
    1044: (errors.Unavailable, "the user has no rights in {address}; docs/providers.md lists what to grant"),
    1045: (errors.Unavailable, "the server refuses the user or password of {address}; check both in the URL"),
    1698: (errors.Unavailable, "the server refuses the user or password of {address}; check both in the URL"),
    1049: (errors.Unavailable, "there is no database {address}; create it: CREATE DATABASE … CHARACTER SET utf8mb4"),
    1142: (errors.Unavailable, "the user lacks a right in {address}: {reason}; see docs/providers.md for the grants"),
    1143: (errors.Unavailable, "the user lacks a right in {address}: {reason}; see docs/providers.md for the grants"),
    1227: (errors.Unavailable, "the user lacks a right in {address}: {reason}; see docs/providers.md for the grants"),
    1290: (errors.Unavailable, "the server of {address} is set to be read only now; write to the primary"),
    1792: (errors.NotSupported, "{address} was opened read-only; open it without read_only to write"),
    1836: (errors.Unavailable, "the server of {address} is set to be read only now; write to the primary"),
    1021: (errors.DiskFull, "the server of {address} has no room left; free some space, the same handle goes on"),
    1114: (errors.DiskFull, "the server of {address} has no room left; free some space, the same handle goes on"),
    1062: (errors.Conflict, "another row has the same key: {reason}"),
    1451: (errors.Conflict, "the row is still referred to: {reason}"),
    1452: (errors.NotFound, "the session it refers to does not exist"),
    1153: (errors.Invalid, "a value is larger than the server's max_allowed_packet; raise that setting"),
    1264: (errors.Invalid, "a number is too large for its column: {reason}"),
    1366: (errors.Invalid, "a text cannot be stored: {reason}"),
    1406: (errors.Invalid, "a text is too long for its column: {reason}"),
    1301: (errors.Invalid, "a value is larger than the server's max_allowed_packet; raise that setting"),
    1054: (errors.SchemaError, "the tables of {address} are not what this program made: {reason}"),
    1146: (errors.SchemaError, "the tables of {address} are not what this program made: {reason}"),
    1034: (errors.Corrupt, "a table of {address} is damaged: {reason}"),
    1194: (errors.Corrupt, "a table of {address} is damaged: {reason}"),
    1712: (errors.Corrupt, "a table of {address} is damaged: {reason}"),
    1317: (errors.Unavailable, "an operator of {address} interrupted the operation; nothing of it remains"),
    1969: (errors.Unavailable, "the server of {address} ended a statement that took too long"),
    3024: (errors.Unavailable, "the server of {address} ended a statement that took too long"),
}


def number(exc: BaseException) -> int:
    """The error's number; 0 for a connection that is gone without a word."""
    first = exc.args[0] if exc.args and isinstance(exc, DriverError) else 0
    return first if isinstance(first, int) else 0


def is_lost(exc: BaseException) -> bool:
    return number(exc) in LOST


def translated(exc: BaseException, address: object) -> errors.SessionDBError:
    code = number(exc)
    reason = str(exc.args[1]) if len(exc.args) > 1 else str(exc)
    if code in LOST:
        return errors.ConnectionLost(f"the connection to {address} was lost; the same handle works again later")
    if code in UNREACHABLE and code not in _MEANING:
        return errors.Unavailable(f"no server answers for {address}; check host and port, and that it runs")
    kind, sentence = _MEANING.get(code, (errors.SessionDBError, "{address}: {reason}"))
    return kind(sentence.format(address=address, reason=reason))
