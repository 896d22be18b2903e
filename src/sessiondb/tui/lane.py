"""Work beside the screen: threads that read and write, and answers that come back to the screen in its own time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
# Calls a function in the thread of the screen.
Post = Callable[..., object]
Then = Callable[["Future[T]"], None]


class Lane:
    """Questions of which only the last one counts: answers to earlier ones are dropped, unbegun ones never asked."""

    def __init__(self, post: Post, threads: int = 2) -> None:
        self._post = post
        # Two: a slow answer that nobody wants any more does not keep the next question waiting.
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="sessiondb-browse")
        self._last = 0
        self._waiting: Future[Any] | None = None
        self.waiting = 0

    def ask(self, question: Callable[[], T], then: Then[T]) -> None:
        self._last += 1
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = self._submit(question, then, self._last)

    def also(self, question: Callable[[], T], then: Then[T]) -> None:
        """Ask beside the last question, for as long as that is the last one."""
        self._submit(question, then, self._last)

    def _submit(self, question: Callable[[], T], then: Then[T], number: int) -> Future[T]:
        self.waiting += 1
        asked = self._threads.submit(question)
        asked.add_done_callback(lambda done: self._post(self._answer, number, done, then))
        return asked

    def _answer(self, number: int, done: Future[T], then: Then[T]) -> None:
        self.waiting -= 1
        if number == self._last and not done.cancelled():
            then(done)

    def close(self) -> None:
        self._last += 1
        self._threads.shutdown(wait=False, cancel_futures=True)


class Queue:
    """Changes: each is made, one after the other, and none is dropped."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sessiondb-browse-write")
        self.waiting = 0

    def add(self, change: Callable[[], T], then: Then[T]) -> None:
        self.waiting += 1
        self._thread.submit(change).add_done_callback(lambda done: self._post(self._answer, done, then))

    def _answer(self, done: Future[T], then: Then[T]) -> None:
        self.waiting -= 1
        then(done)

    def close(self) -> None:
        """Wait for what was ordered: a person who quits has deleted what the screen says is deleted."""
        self._thread.shutdown(wait=True)
