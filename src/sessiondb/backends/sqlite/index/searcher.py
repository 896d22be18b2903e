"""Answering a query from the index, or from the rows when the index cannot be trusted.

The answer is the same either way; only the time differs. Rows that the index has not seen yet are scanned.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import apsw

from ....models import Filter, Matches, MessageFilter, Page, SearchOrder
from ....search import analyze
from ....search.nodes import Node
from ....search.query import Query
from ....search.relaxed import Candidates
from ..connection import uri
from . import catchup, files, fts5
from .answer import Answer
from .partial import Partial

if TYPE_CHECKING:
    from ..engine import Engine

R = TypeVar("R")
logger = logging.getLogger(__name__)

BUDGET = 0.2
_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.CantOpenError, apsw.SQLError, apsw.FullError)


class Searcher:
    """The current generation of a store's index, opened when first needed; one search at a time."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.lag = 0
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._file: tuple[str, tuple[int, int]] | None = None
        self._pid = os.getpid()

    # --- answers ---

    def search(
        self, query: Query, where: Filter, messages: MessageFilter, page: Page, order: SearchOrder, now: float
    ) -> Matches | None:
        """The page of matches; None when the index cannot answer and the caller must scan."""
        return self._answered(
            lambda connection, last_id: Answer(connection, query, where, messages).found(last_id, page, order, now)
        )

    def candidates(
        self, parts: Sequence[Node], where: Filter, messages: MessageFilter, limit: int
    ) -> Candidates | None:
        """The messages that hold most of the parts; None when the index cannot answer and the caller must scan."""
        return self._answered(
            lambda connection, last_id: Partial(connection, parts, where, messages).gathered(last_id, limit)
        )

    def _answered(self, work: Callable[[apsw.Connection, int], R]) -> R | None:
        with self._lock:
            try:
                connection = self._current()
                at = self._caught_up(connection)
                return work(connection, at.last_id)
            except (files.Unusable, *_DAMAGE) as exc:
                logger.warning("search index of %s set aside: %s", self.engine.path, exc)
                self._set_aside()
                return None
            except apsw.BusyError:
                return None

    def index(self, budget: float | None = None) -> int:
        """Bring the index up to date; returns how many messages it still lacks."""
        with self._lock:
            try:
                self._caught_up(self._current(), budget)
            except (files.Unusable, *_DAMAGE) as exc:
                logger.warning("search index of %s set aside: %s", self.engine.path, exc)
                self._set_aside()
        return self.lag

    def close(self) -> None:
        with self._lock:
            self._drop()

    # --- the file ---

    def _current(self) -> apsw.Connection:
        if self._pid != os.getpid():
            # The parent's connection is not ours to close.
            self._inherited, self._connection, self._pid = self._connection, None, os.getpid()
        known = files.generations(self.engine.path)
        path = known[-1][1] if known else self._begun(1)
        if self._connection is not None and self._file == (path, _identity(path)):
            return self._connection
        self._drop()
        self._connection = self._opened(path)
        self._file = (path, _identity(path))
        for _, older in known[:-1]:
            files.remove(older)
        return self._connection

    def _begun(self, number: int) -> str:
        if self.engine.options.read_only:
            raise files.Unusable("there is no index yet, and a store opened read-only makes none")
        path = files.path_of(self.engine.path, number)
        files.created(path, self._store_id(), analyze.VERSION)
        return path

    def _store_id(self) -> str:
        found = self.engine.read(lambda tx: tx.row("SELECT value FROM meta WHERE name = 'store_id'"))
        return str(found[0]) if found else ""

    def _opened(self, path: str) -> apsw.Connection:
        connection = files.opened(path, read_only=self.engine.options.read_only)
        try:
            self._check(connection)
            fts5.register(connection)
            connection.execute(f"ATTACH '{_quoted(uri(self.engine.path, mode='ro', vfs='unix'))}' AS data")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: apsw.Connection) -> None:
        state = dict(connection.execute("SELECT name, value FROM state"))
        if state.get("store_id") != self._store_id() or state.get("analyser") != str(analyze.VERSION):
            raise files.Unusable("it belongs to another store or another version of the analyser")
        if not files.checks_pages(connection):
            raise files.Unusable("its pages carry no checksums")

    def _set_aside(self) -> None:
        """Begin the next generation; the damaged one is removed when the new one is opened."""
        self._drop()
        known = files.generations(self.engine.path)
        if not self.engine.options.read_only:
            self._begun(known[-1][0] + 1 if known else 1)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # --- keeping up ---

    def _caught_up(self, connection: apsw.Connection, budget: float | None = BUDGET) -> catchup.Position:
        self._check_position(catchup.position(connection))
        if not self.engine.options.read_only:
            catchup.catch_up(connection, self.engine, budget)
        at = catchup.position(connection)
        self.lag = self._check_position(at)
        return at

    def _check_position(self, at: catchup.Position) -> int:
        """How many ids the index is behind; raises Unusable when it is ahead, or when changes it needs are gone."""
        found = self.engine.read(lambda tx: tx.row(catchup.BEHIND, {"last_change": at.last_change}))
        if found is None:
            raise files.Unusable("the store does not say how far it is")
        newest, last_change, pending, _ = found
        if at.last_id > newest or at.last_change > last_change:
            raise files.Unusable("it is ahead of the messages")
        if pending != last_change - at.last_change:
            raise files.Unusable("changes that it has not seen were trimmed from the log")
        return int(newest - at.last_id)


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _quoted(text: str) -> str:
    return text.replace("'", "''")
