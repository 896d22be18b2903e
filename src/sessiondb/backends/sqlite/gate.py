"""The gate: writers of all processes queue here before they ask SQLite for its write lock.

SQLite's own waiting polls, so whoever is unlucky waits for seconds; the kernel's queue is fair. The lock is tried
without blocking first. Under contention one thread per gate does the blocking wait and hands the lock over, so that a
waiter can give up at his deadline; a lock that arrives when nobody waits any more is released at once.
"""

from __future__ import annotations

import os
import threading
import time

from ... import errors
from . import locks


class Gate:
    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor = self._open()
        self._changed = threading.Condition()
        self._wanted = False
        self._granted = False
        self._waiting_in_kernel = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as exc:
            # Without the lock nobody may write: going on would be the corruption it prevents.
            raise errors.Unavailable(f"the lock file {self.path} cannot be opened: {exc.strerror}") from exc

    def enter(self, until: float) -> bool:
        """Take the lock; False when the monotonic clock reaches `until` before. One caller at a time."""
        if not self._waiting_in_kernel and locks.try_lock(self._descriptor):
            return True
        with self._changed:
            self._wanted = True
            self._start_waiting()
            try:
                while not self._granted:
                    if not self._changed.wait(max(0.0, until - time.monotonic())) and time.monotonic() >= until:
                        break
            finally:
                self._wanted = False
                self._changed.notify_all()
            granted, self._granted = self._granted, False
            return granted

    def leave(self) -> None:
        locks.unlock(self._descriptor)

    def _start_waiting(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="sessiondb-gate", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._wanted and not self._closed:
                    self._changed.wait()
                if self._closed:
                    os.close(self._descriptor)
                    return
                self._waiting_in_kernel = True
            locks.wait_lock(self._descriptor)
            with self._changed:
                self._hand_over()
                # Only now: whoever sees it False may try the lock, and must not find it still ours.
                self._waiting_in_kernel = False

    def _hand_over(self) -> None:
        if not self._wanted:
            locks.unlock(self._descriptor)
            return
        self._granted = True
        self._changed.notify_all()
        while self._granted and self._wanted:
            self._changed.wait()
        if self._granted:
            # The waiter died of something else (Ctrl-C) before he took it.
            self._granted = False
            locks.unlock(self._descriptor)

    def close(self) -> None:
        """Let go of the file; a wait that is still in the kernel closes it when it ends."""
        with self._changed:
            self._closed = True
            if self._thread is None:
                os.close(self._descriptor)
            self._changed.notify_all()

    def forget(self) -> None:
        """In a forked child: drop the copy of the descriptor, never the parent's lock."""
        os.close(self._descriptor)
