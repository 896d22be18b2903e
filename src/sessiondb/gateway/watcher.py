"""Looks after conversations while nobody writes: ends what is over its time, finds turns of dead processes, tidies.

One thread; any number of processes may run one each, for every change is a swap. Before a session ends the agent has
its turn (`before_reset`); how often it was tried is in the store, so a restart neither repeats nor forgets it.
"""

from __future__ import annotations

import logging
from threading import Event, Thread
from types import TracebackType
from typing import Self

from ..bindings import Binding, Handover
from ..errors import SessionDBError
from .router import RESET, Router
from .state import Notice
from .table import View, key_of
from .transcripts import Transcripts

logger = logging.getLogger("sessiondb.gateway")


class Watcher:
    def __init__(self, router: Router, *, interval: float = 300.0, delay: float = 60.0) -> None:
        self.router, self.interval, self.delay = router, interval, delay
        self._stop = Event()
        self._thread: Thread | None = None

    def start(self) -> Self:
        """Look every `interval` seconds, first after `delay`; a second call changes nothing."""
        if self._thread is None:
            self._stop.clear()
            self._thread = Thread(target=self._run, name="sessiondb-gateway-watcher", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """End the thread, after what it is doing."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        wait = self.delay
        while not self._stop.wait(wait):
            wait = self.interval
            try:
                self.look()
            except SessionDBError as exc:
                # A store that is busy or away now may answer the next time.
                logger.warning("the watcher could not look: %s", exc)

    def look(self) -> list[str]:
        """One round; returns the keys of the conversations whose sessions were ended."""
        self.router.recover()
        ended = [each.session_key for each in self.router.bindings() if self._expired(each)]
        if self.router.transcripts is not None:
            self._tidy(self.router.transcripts)
        return ended

    def _tidy(self, transcripts: Transcripts) -> None:
        try:
            transcripts.reindex(self.router.bindings())
            transcripts.tidy(self.router.db)
        except OSError as exc:
            logger.warning("the files in %s could not be tidied: %s", transcripts.directory, exc)

    def _expired(self, binding: Binding) -> bool:
        return binding.active_session_id is not None and self.router.until_done(key_of(binding), self._expire)

    def _expire(self, view: View) -> bool | None:
        """End a session whose time is over; the next message begins another."""
        if view.session is None or self._stop.is_set():
            return False
        reason = self.router.reason(view)
        # "suspended" waits for the message of whoever asked for it.
        if reason not in ("idle", "daily") or self.router.is_saving(view):
            return False
        if self.router.save_first(view, reason):
            return None
        session_id = view.session["id"]
        notice = Notice(reason, session_id, bool(view.session["message_count"]))
        state = view.state.next(notice=notice, saving=None, lease=None)
        handover = Handover(end=(session_id, RESET, view.now))
        return None if self.router.swap(view, state, None, handover) is None else True
