"""`SessionDB` under the import name of Hermes Agent's storage, at the state of its schema version 6.

    from sessiondb.compat.hermes_state import SessionDB
    db = SessionDB()                       # $HERMES_HOME/state.db, home ~/.hermes

It is our own store in our own schema: a file the original made is only taken over with `upgrade=True`.
"""

from __future__ import annotations

import os
from pathlib import Path

from .. import db
from ..backends.sqlite import SQLiteProvider
from . import fts5
from .faults import OPENING, as_sqlite_errors, raises_sqlite_errors

__all__ = ["DEFAULT_DB_PATH", "SCHEMA_SQL", "SCHEMA_VERSION", "SessionDB"]

DEFAULT_DB_PATH = Path(os.environ.get("HERMES_HOME") or Path.home() / ".hermes") / "state.db"
SCHEMA_VERSION = 6
SCHEMA_SQL = Path(__file__).with_name("schema_6.sql").read_text(encoding="utf-8")


@raises_sqlite_errors
class SessionDB(db.SessionDB):
    """The API of the original; its errors are ours and the sqlite3 exceptions the original raised."""

    # Values that callers read; how long a write waits is decided by the provider's deadline.
    _WRITE_MAX_RETRIES = 15
    _WRITE_RETRY_MIN_S = 0.020
    _WRITE_RETRY_MAX_S = 0.150
    _CHECKPOINT_EVERY_N_WRITES = 50

    def __init__(
        self, db_path: str | os.PathLike[str] | None = None, *, upgrade: bool = False, read_only: bool = False
    ) -> None:
        """Open a file, or make it; one of the original's, version 1 to 6, raises SchemaOutdated unless `upgrade`."""
        provider = SQLiteProvider()
        path = Path(DEFAULT_DB_PATH if db_path is None else db_path)
        with as_sqlite_errors(OPENING):
            provider.initialize(path=path, read_only=read_only, upgrade=upgrade)
        super().__init__(provider=provider)
        self._db_path = path

    @property
    def db_path(self) -> Path:  # type: ignore[override]
        """The file of the store, as it was named."""
        return self._db_path

    @staticmethod
    def _sanitize_fts5_query(query: str) -> str:
        return fts5.sanitized(query)

    @staticmethod
    def _contains_cjk(text: str) -> bool:
        return fts5.contains_cjk(text)
