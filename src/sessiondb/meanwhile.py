"""One piece of work beside another."""

from __future__ import annotations

import threading
from collections.abc import Callable

Reached = Callable[[int, int], None]


class Meanwhile:
    """Work in a thread that nobody waits for when the program is interrupted; what it raises, `wait` raises."""

    def __init__(self, work: Callable[[Reached], None]) -> None:
        self._work = work
        self._error: Exception | None = None
        self._reached: tuple[int, int] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="sessiondb-meanwhile")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work(self._note)
        except Exception as exc:  # noqa: BLE001  # raised again by `wait`
            self._error = exc

    def _note(self, done: int, total: int) -> None:
        self._reached = done, total

    def wait(self, tick: Reached) -> None:
        """Until it is done; `tick` is told how far it is."""
        while self._thread.is_alive():
            self._thread.join(0.2)
            if self._reached is not None:
                tick(*self._reached)
        if self._error is not None:
            raise self._error
