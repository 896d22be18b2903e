"""What tests must know of the inside: the engine of a handle, a transaction of one's own, the file's integrity."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from sessiondb.backends.sqlite.engine import Engine
from sessiondb.backends.sqlite.writer import Writer
from sessiondb.db import SessionDB
from sessiondb.sql.driver import Tx


def engine_of(db: SessionDB) -> Engine:
    engine: Engine = db.provider.driver.engine  # type: ignore[attr-defined]
    return engine


def writer_of(db: SessionDB) -> Writer:
    writer = engine_of(db).writer
    assert writer is not None
    return writer


def transact(db: SessionDB, work: Callable[[Tx], Any]) -> Any:
    return db.provider.driver.write(work)  # type: ignore[attr-defined]


def integrity(path: Path) -> str:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs="unix")
    try:
        return str(connection.pragma("integrity_check"))
    finally:
        connection.close()


def wal_size(path: Path) -> int:
    wal = path.with_name(path.name + "-wal")
    return wal.stat().st_size if wal.exists() else 0
