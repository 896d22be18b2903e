"""A thread that brings the index up to date while nobody writes, and hardly works while somebody does."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..engine import Engine

IDLE_SECONDS = 0.1
# The modules of search are many, and whoever writes while they are loaded waits for the interpreter again and again.
QUIET_WITHIN = 10.0

_running: set[Background] = set()
# What a thread holds while the process forks, a module that it loads or a mutex of SQLite, a child waits for in vain:
# forks wait until the thread rests, but not for ever.
at_work = threading.Lock()
FORK_WAITS = 5.0
_fork = threading.local()


class Background:
    """Sleeps until it is woken, then works until nothing is left."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
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
            _running.discard(self)

    def _run(self) -> None:
        while self._due.wait() and not self.is_stopped:
            self._due.clear()
            self._await_quiet()
            if self.is_stopped:
                return
            _keep()(self)

    def _await_quiet(self) -> None:
        """Before the first work: until nobody writes, but not for ever."""
        until = time.monotonic() + QUIET_WITHIN
        while not self.engine.has_searcher and self.is_busy and time.monotonic() < until:
            if self.rest(IDLE_SECONDS):
                return

    def rest(self, seconds: float) -> bool:
        """Whether it was stopped meanwhile."""
        return self._stopped.wait(seconds)

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def is_busy(self) -> bool:
        writer = self.engine.writer
        return writer is not None and time.monotonic() - (writer.last_commit or 0.0) < IDLE_SECONDS


def _keep() -> Callable[[Background], None]:
    # In this thread, not in that which writes: the modules of search are loaded here, all that it will need.
    with at_work:
        from . import searcher, trim  # noqa: F401
        from .keeping import keep
    return keep


@atexit.register
def _stop_all() -> None:
    for background in list(_running):
        background.stop()


def _before_fork() -> None:
    _fork.waited = False
    _fork.waited = at_work.acquire(timeout=FORK_WAITS)


def _after_fork() -> None:
    if getattr(_fork, "waited", False):
        at_work.release()


def _after_fork_in_child() -> None:
    """A forked child has the parent's objects, not its threads."""
    _running.clear()
    if at_work.locked():
        at_work.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
