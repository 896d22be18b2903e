"""One index file, open, with the data file attached to be read beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from ....search import analyze
from ..connection import uri
from ..files import identity
from . import catchup, files, fts5, merging, seal, snapshot
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..engine import Engine

STORE_ID = "SELECT value FROM meta WHERE name = 'store_id'"
LAST_CHANGE = "SELECT seq FROM sqlite_sequence WHERE name = 'message_changes'"
# Whoever searches once reads hardly a page twice, and memory that was used is at hand sooner than memory that was not.
FIRST_CACHE_KB = 2 * 1024
INDEX_CACHE_KB = 32 * 1024
DATA_CACHE_KB = 8 * 1024
TERM = "SELECT term FROM data.messages WHERE id = ?"


class Generation:
    def __init__(self, path: str, engine: Engine) -> None:
        """Open a file and check that it belongs to this store; raises Unusable."""
        self.path = path
        self.engine = engine
        self.read_only = engine.options.read_only
        self.file = identity(path)
        self._remembers = False
        self.connection = files.opened(path, read_only=self.read_only)
        self.note = seal.Note(path)
        try:
            self._attach()
            self._check()
            fts5.register(self.connection)
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        immutable = {"immutable": 1} if self.engine.is_immutable() else {}
        name = uri(self.engine.path, mode="ro", vfs=self.engine.vfs, **immutable)
        self.connection.execute("ATTACH ? AS data", (name,))
        self.connection.execute(f"PRAGMA main.cache_size = -{FIRST_CACHE_KB}")
        self.connection.execute(f"PRAGMA data.cache_size = -{DATA_CACHE_KB}")

    def _check(self) -> None:
        state = {str(name): str(value) for name, value in self.connection.execute("SELECT name, value FROM state")}
        known = (store_id(self.engine), str(analyze.VERSION), files.FORM)
        if (state.get("store_id"), state.get("analyser"), state.get("form")) != known:
            raise files.Unusable("it belongs to another store or another version of the analyser")
        if not files.checks_pages(self.connection):
            raise files.Unusable("its pages carry no checksums")
        if not self._is_witnessed(state["witness"]):
            raise files.Unusable("the store was set back since")

    def _is_witnessed(self, witness: str) -> bool:
        """Whether the last message that was read is still the same, or gone: ids are not used twice but by accident."""
        message_id = witness.partition(":")[0]
        found = self.connection.execute(TERM, (int(message_id),)).fetchall() if message_id else []
        return not found or witness == f"{message_id}:{found[0][0]}"

    def is_there(self) -> bool:
        """Whether the file is still where it was opened; others remove it when it is damaged."""
        try:
            return identity(self.path) == self.file
        except FileNotFoundError:
            return False

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Index and data as they are now; raises Unusable when somebody else touched the file, before or meanwhile."""
        self.connection.execute("BEGIN")
        try:
            found = snapshot.taken(self.connection)
            self._check_seal()
            yield found
            self._check_seal()
        finally:
            self.connection.execute("ROLLBACK")
            self._remember_more()

    def _remember_more(self) -> None:
        """From the second search on: a checked page costs more than a cached one; memory is taken as pages are used."""
        if not self._remembers:
            self.connection.execute(f"PRAGMA main.cache_size = -{INDEX_CACHE_KB}")
            self._remembers = True

    def _check_seal(self) -> None:
        if not self.note.is_kept() and not seal.intact(self.path, read_only=self.read_only):
            raise files.Unusable("somebody else wrote to it")

    def catch_up(self, budget: float | None, batch: int = catchup.BATCH) -> bool:
        """Index what is new; see `catchup.catch_up`."""
        return catchup.catch_up(self.connection, self.path, self.engine, budget, batch)

    def merge(self) -> bool:
        """Make the index a little faster to search, if that is due; whether there is more to do."""
        if self.read_only or not merging.is_due(self.connection):
            return False
        try:
            return merging.merge_step(self.connection, self.path)
        except (apsw.BusyError, seal.InUse):
            # Somebody else searches or writes; the next time will do.
            return False

    def close(self) -> None:
        self.note.close()
        self.connection.close()


def store_id(engine: Engine) -> str:
    found = engine.read(lambda tx: tx.row(STORE_ID))
    return str(found[0]) if found else ""


def begun(engine: Engine, number: int) -> str:
    """The path of a new generation."""
    if engine.options.read_only:
        raise files.Unusable("there is no index yet, and a store opened read-only makes none")
    path = files.path_of(engine.path, number)
    last_change = engine.read(lambda tx: tx.row(LAST_CHANGE)) or (0,)
    files.created(path, store_id(engine), analyze.VERSION, int(last_change[0]))
    return path
