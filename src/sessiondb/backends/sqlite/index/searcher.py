"""Answering a query from the index, or from the rows when the index cannot be trusted.

The answer is the same either way; only the time differs. Rows that the index has not read yet are scanned.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import apsw

from ....errors import IndexCorrupt, NotSupported
from ....models import Filter, Matches, MessageFilter, Page, SearchOrder
from ....search.nodes import Node
from ....search.query import Query
from ....search.relaxed import Candidates
from . import files, fts5, seal
from .answer import Answer
from .generation import Generation, begun
from .partial import Partial
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..engine import Engine

R = TypeVar("R")
Tick = Callable[[int, int], None]

BUDGET = 0.2
# Between the steps of a long catch-up: whoever waits to search is served.
PAUSE = 0.002
ATTEMPTS = 3
_DAMAGE = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.IOError,
    apsw.CantOpenError,
    apsw.SQLError,
    apsw.ReadOnlyError,
    apsw.FullError,
    OSError,
    files.Unusable,
)
_WAIT = (apsw.BusyError, seal.InUse)


class Searcher:
    """The current generation of a store's index, opened when first needed; one search at a time."""

    def __init__(self, engine: Engine) -> None:
        if not fts5.available():
            raise NotSupported("search needs FTS5, which this SQLite lacks: pip install -U apsw from PyPI")
        self.engine = engine
        self.lag: int | None = None
        self._lock = threading.Lock()
        self._generation: Generation | None = None

    # --- answers ---

    def search(
        self, query: Query, where: Filter, messages: MessageFilter, page: Page, order: SearchOrder, now: float
    ) -> Matches | None:
        """The page of matches; None when the index cannot answer and the caller must scan."""
        return self._answered(lambda snapshot: Answer(snapshot, query, where, messages).found(page, order, now))

    def candidates(
        self, parts: Sequence[Node], where: Filter, messages: MessageFilter, limit: int
    ) -> Candidates | None:
        """The messages that hold most of the parts; None when the index cannot answer and the caller must scan."""
        return self._answered(lambda snapshot: Partial(snapshot, parts, where, messages).gathered(limit))

    def near_words(self, words: Sequence[str]) -> dict[str, str] | None:
        """For each word that no message has, a similar one that some have."""
        from .vocabulary import near_words

        return self._answered(lambda snapshot: near_words(snapshot.connection, words))

    def _answered(self, work: Callable[[Snapshot], R]) -> R | None:
        with self._lock:
            try:
                return self._worked(self._current(), work)
            except _DAMAGE as exc:
                self._set_aside(exc)
            except _WAIT:
                pass
        return None

    def _worked(self, generation: Generation, work: Callable[[Snapshot], R]) -> R:
        with generation.snapshot() as snapshot:
            self.lag = snapshot.lag
            if not self.lag or generation.read_only:
                return work(snapshot)
        generation.catch_up(BUDGET)
        with generation.snapshot() as snapshot:
            self.lag = snapshot.lag
            found = work(snapshot)
        if self.lag:
            self.engine.index_in_background()
        return found

    # --- keeping up ---

    def index(self, tick: Tick | None = None) -> None:
        """Read all there is; `tick` is told after each step how many messages are read, and of how many."""
        while (left := self._stepped_for_sure()).lag:
            if tick is not None:
                tick(left.newest - left.lag, left.newest)
            time.sleep(PAUSE)
        while self.merge():
            time.sleep(PAUSE)
        if tick is not None:
            tick(left.newest, left.newest)

    def merge(self) -> bool:
        """Merge a little of the index, if that is due; whether there is more to do."""
        with self._lock:
            try:
                return self._current().merge()
            except _DAMAGE as exc:
                self._set_aside(exc)
                return False

    def _stepped_for_sure(self) -> Snapshot:
        for _ in range(ATTEMPTS):
            found = self.step(BUDGET)
            if found is not None:
                return found
        raise IndexCorrupt(f"the search index of {self.engine.path} cannot be written; messages are safe")

    def step(self, budget: float, batch: int = 500) -> Snapshot | None:
        """Index for a while; how far that came, or None when the index was set aside."""
        with self._lock:
            try:
                generation = self._current()
                if not generation.read_only:
                    generation.catch_up(budget, batch)
                with generation.snapshot() as found:
                    self.lag = found.lag
                    return found
            except _DAMAGE as exc:
                self._set_aside(exc)
                return None

    def trim(self, found: Snapshot) -> None:
        """Forget changes that the index has read long ago."""
        from .trim import trimmed

        trimmed(self.engine, found.at.last_change)

    # --- the file ---

    def _current(self) -> Generation:
        if self._generation is not None and self._generation.is_there():
            return self._generation
        self._drop()
        known = files.generations(self.engine.path)
        self._generation = Generation(known[-1][1] if known else begun(self.engine, 1), self.engine)
        if not self._generation.read_only:
            for _, older in known[:-1]:
                files.remove(older)
        return self._generation

    def _set_aside(self, why: Exception) -> None:
        """Begin the next generation; the one that was damaged is removed when the new one is opened."""
        _warn("search index of %s set aside: %s", self.engine.path, why)
        self._drop()
        if self.engine.options.read_only:
            return
        try:
            known = files.generations(self.engine.path)
            begun(self.engine, known[-1][0] + 1 if known else 1)
        except (*_DAMAGE, *_WAIT) as exc:
            _warn("no new search index for %s: %s", self.engine.path, exc)

    def _drop(self) -> None:
        if self._generation is not None:
            self._generation.close()
            self._generation = None

    def close(self) -> None:
        with self._lock:
            self._drop()


def _warn(message: str, *facts: object) -> None:
    # Loaded here: a search that goes well says nothing, and logging takes a while to import.
    import logging

    logging.getLogger(__name__).warning(message, *facts)
