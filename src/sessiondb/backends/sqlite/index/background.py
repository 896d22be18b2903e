"""A thread that brings the index up to date while nobody writes, and hardly works while somebody does."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING

import apsw

from ....errors import SessionDBError
from . import seal, turn

if TYPE_CHECKING:
    from ..engine import Engine
    from .snapshot import Snapshot

logger = logging.getLogger(__name__)

BATCH = 100
# While somebody writes, batches are small and the pause after each is so many times as long as it took.
BUSY_BATCH = 20
BUSY_PAUSE = 20
IDLE_SECONDS = 0.1
# Whoever brings many messages leaves so few of them to the next search.
ALONG_REST = 500
LONGEST_PAUSE = 1.0
# The modules of search are many, and whoever writes while they are loaded waits for the interpreter again and again.
QUIET_WITHIN = 10.0
# Another process may be at the same work.
WAIT_SECONDS = 0.05

# The next search says what is wrong with the store, or that there is no search here.
DIFFICULTIES = (SessionDBError, apsw.Error, seal.InUse)

_running: weakref.WeakSet[Background] = weakref.WeakSet()


class Background:
    """Sleeps until it is woken, then works until nothing is left."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._due = threading.Event()
        self._stopped = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        self._due.set()
        if self._thread is None and not self._stopped.is_set():
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="sessiondb-index", daemon=True)
                    _running.add(self)
                    self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._due.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while self._due.wait() and not self._stopped.is_set():
            self._due.clear()
            self._await_quiet()
            try:
                with turn.taken(self._engine.path) as ours:
                    if ours:
                        self._catch_up()
            except DIFFICULTIES as exc:
                logger.debug("background indexing of %s paused: %s", self._engine.path, exc)

    def _await_quiet(self) -> None:
        """Before the first work: until nobody writes, but not for ever."""
        until = time.monotonic() + QUIET_WITHIN
        while not self._engine.has_searcher and self._is_busy() and time.monotonic() < until:
            if self._stopped.wait(IDLE_SECONDS):
                return

    def _catch_up(self) -> None:
        lag = None
        while not self._stopped.is_set():
            began = time.monotonic()
            busy = self._is_busy()
            found = self._step(BUSY_BATCH if busy else BATCH)
            if found is None:
                break
            if not found.lag:
                self._merge()
                break
            took = time.monotonic() - began
            pause = took * BUSY_PAUSE if busy else took / 4
            if found.lag == lag:
                pause = WAIT_SECONDS
            lag = found.lag
            self._stopped.wait(min(pause, LONGEST_PAUSE))

    def _merge(self) -> None:
        searcher = self._engine.searcher()
        began = time.monotonic()
        while not self._stopped.is_set() and not self._is_busy() and searcher.merge():
            self._stopped.wait(time.monotonic() - began)
            began = time.monotonic()

    def _step(self, batch: int) -> Snapshot | None:
        # Here, not in the thread that writes: the modules of search are many.
        searcher = self._engine.searcher()
        found = searcher.step(0.0, batch)
        if found is not None and not found.lag:
            searcher.trim(found)
        return found

    def _is_busy(self) -> bool:
        writer = self._engine.writer
        return writer is not None and time.monotonic() - (writer.last_commit or 0.0) < IDLE_SECONDS


def index_along(engine: Engine) -> None:
    """Index what is new but for a rest, in the thread that brought it; a difficulty is left to the next search."""
    lag = None
    try:
        while (found := engine.searcher().step(0.0)) is not None and found.lag > ALONG_REST and found.lag != lag:
            lag = found.lag
    except DIFFICULTIES as exc:
        logger.debug("indexing along with an import of %s put off: %s", engine.path, exc)


@atexit.register
def _stop_all() -> None:
    for background in list(_running):
        background.stop()


# A forked child has the parent's objects, not its threads.
os.register_at_fork(after_in_child=_running.clear)
