"""Programs of two versions on one store, each a process of its own.

`updating.py old PLACE LANE ACKS`: this version; appends until it is ended.
`updating.py new PLACE LANE ACKS COUNT [die]`: the next version, which has one migration more; opens the store, and with
it upgrades it, then appends COUNT messages. With `die` it is killed when the migration has run and is not yet noted.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from sessiondb import registry
from sessiondb.backends.mysql import schema as mysql
from sessiondb.backends.postgres import schema as postgres
from sessiondb.backends.sqlite import schema as sqlite
from sessiondb.db import SessionDB

# Each engine has its own history; the next version is newer than all of them.
VERSIONS = {"sqlite": sqlite.VERSION, "postgresql": postgres.VERSION, "mysql": mysql.VERSION}
NEXT = max(VERSIONS.values()) + 1
ADDED = {
    "sqlite": "ALTER TABLE sessions ADD COLUMN newer TEXT",
    "postgresql": "ALTER TABLE sessions ADD COLUMN newer TEXT",
    "mysql": "ALTER TABLE sessions ADD COLUMN newer LONGTEXT",
}


def become_the_next_version(name: str) -> Any:
    """The schema module of a backend, as the next release would ship it."""
    if name == "sqlite":
        from sessiondb.backends.sqlite import schema, store

        known = schema.migrations()
        store._READY = schema.Kind("ours", NEXT)
        schema.migrations = lambda: (*known, (NEXT, (ADDED[name],)))  # type: ignore[assignment]
    elif name == "postgresql":
        from sessiondb.backends.postgres import schema  # type: ignore[no-redef]

        texts = schema.migrations()
        schema.migrations = lambda: (*texts, (NEXT, ADDED[name]))  # type: ignore[assignment]
    else:
        from sessiondb.backends.mysql import schema  # type: ignore[no-redef]

        statements = schema.migrations()
        schema.migrations = lambda: (*statements, (NEXT, (ADDED[name],)))  # type: ignore[assignment]
    schema.VERSION = NEXT
    return schema


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_before_it_is_noted(name: str, schema: Any) -> None:
    if name == "sqlite":
        point = schema.kill_point
        schema.kill_point = lambda place: die() if place == "before migration commit" else point(place)
    elif name == "postgresql":
        schema._stamp = die
    else:
        from sessiondb.backends.mysql.connection import Connection

        query = Connection.query

        def watched(self: Connection, sql: str, params: Any = None) -> Any:
            return die() if sql.startswith("UPDATE schema_version") else query(self, sql, params)

        Connection.query = watched  # type: ignore[method-assign]


def opened(place: list[Any]) -> SessionDB:
    provider = registry.load("providers", place[0])()
    provider.initialize(**place[1])
    return SessionDB(provider=provider)


def append(db: SessionDB, lane: str, acks: str, count: int | None) -> None:
    db.ensure_session(lane, "cli")
    with (Path(acks) / f"{lane}.acks").open("ab", buffering=0) as file:
        number = 0
        while count is None or number < count:
            said = f"{lane}:{number}"
            db.append_message(lane, "user", said, message_key=said)
            file.write(b"%d\n" % number)
            number += 1


def main(version: str, place: str, lane: str, acks: str, count: str = "", fate: str = "") -> None:
    where = json.loads(place)
    if version == "new":
        schema = become_the_next_version(where[0])
        if fate == "die":
            die_before_it_is_noted(where[0], schema)
    with opened(where) as db:
        append(db, lane, acks, int(count) if count else None)


if __name__ == "__main__":
    main(*sys.argv[1:])
