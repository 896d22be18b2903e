"""The first look at a server: may we in, does it hold our text, are the tables there?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from ... import errors
from . import faults, schema, trigrams
from .connection import Connection
from .pool import Options, Pool, Pools, connect, place

LOCK_SECONDS = 10.0


def prepare(options: Options, pool: Pool | None, *, upgrade: bool, wish: trigrams.Wish) -> bool:
    """Check the server and install what is missing; whether there is an index of letters. Raises a typed error."""
    patience = max(1.0, min(LOCK_SECONDS, options.deadline))
    with opened(options, pool) as connection:
        try:
            _check_encoding(connection, options)
            new = schema.ensure(connection, options.schema, upgrade=upgrade, lock_seconds=patience)
            return trigrams.ensure(connection, options.schema, wish, new=new, may_create=upgrade, lock_seconds=patience)
        except psycopg.errors.InsufficientPrivilege as exc:
            raise errors.Unavailable(
                f"this role may not use or create the tables of sessiondb in schema {options.schema!r}: "
                f"{faults.sentence_of(exc)}; docs/providers.md lists what to grant"
            ) from exc
        except psycopg.Error as exc:
            raise faults.translated(exc, place(options.dsn) if options.dsn else "PostgreSQL") from exc


@contextmanager
def opened(options: Options, pool: Pool | None) -> Iterator[Connection]:
    """A connection of one's own, or one of the caller's pool."""
    if pool is None:
        with closing(connect(options)) as connection:
            yield connection
    else:
        with Pools(options, pool).leased(time.monotonic() + options.deadline) as connection:
            yield connection


def _check_encoding(connection: Connection, options: Options) -> None:
    found = connection.info.parameter_status("server_encoding")
    if found not in (None, "UTF8"):
        raise errors.NotSupported(
            f"{place(options.dsn)} keeps text as {found}, which cannot hold every character; "
            "CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0 makes one that can"
        )
