"""What every part of `AsyncSessionDB` shares: two pools of threads, and lanes that keep the order of writes.

Writes to one session run one after another, in the order they were asked for; writes never wait behind reads.
A task that is cancelled while its write waits takes it back; once a write runs, the task stays until it has ended, so
that nothing is stored behind the back of a task that believes it was not.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from ..db import SessionDB
from ..errors import Closed
from ..models import SearchResults
from ..provider import Features, SessionDBProvider

R = TypeVar("R")
THREADS = 4


class AsyncHandle:
    """An open store, used from an event loop; opened by the first call."""

    def __init__(self, open_store: Callable[[], SessionDB], threads: int) -> None:
        self._open = open_store
        self._db: SessionDB | None = None
        self._closed = False
        self._opening = asyncio.Lock()
        self._lanes = Lanes()
        self._readers = ThreadPoolExecutor(threads, "sessiondb-read")
        self._writers = ThreadPoolExecutor(threads, "sessiondb-write")

    @property
    def features(self) -> Features:
        return self._opened().features

    @property
    def provider(self) -> SessionDBProvider:
        return self._opened().provider

    @property
    def redacts_on_write(self) -> bool:
        """Whether credentials are left out of what is stored."""
        return self._opened().redacts_on_write

    @property
    def db_path(self) -> str | None:
        """The file of the store, where it is one."""
        return self._opened().db_path

    def _opened(self) -> SessionDB:
        if self._db is None:
            raise Closed("the store is not open yet; enter it with `async with`, or await open()")
        return self._db

    async def open(self) -> None:
        """Open the store, unless it is open; any other call does so by itself."""
        await self._ready()

    async def _ready(self) -> SessionDB:
        if self._closed:
            raise Closed("the store is closed; open it again")
        async with self._opening:
            if self._db is None:
                await finished(self._writers, self._opens)
        return self._opened()

    def _opens(self) -> None:
        # In the thread: a task that is cancelled meanwhile would drop an open store.
        self._db = self._open()

    async def health(self) -> dict[str, Any]:
        """Facts for operators: schema, effective settings, sizes, age of the last durable commit."""
        return await self._read(SessionDB.health)

    async def close(self) -> None:
        """Wait for what has begun and release the store; a second call changes nothing, any other use raises Closed."""
        if self._closed:
            return
        self._closed = True
        await settled(asyncio.get_running_loop().run_in_executor(None, self._shut))

    def _shut(self) -> None:
        self._readers.shutdown(cancel_futures=True)
        self._writers.shutdown()
        if self._db is not None:
            self._db.close()

    async def _read(self, work: Callable[[SessionDB], R]) -> R:
        """A cancelled read is left to itself: nobody misses its answer."""
        db = await self._ready()
        answer = await asyncio.wrap_future(submitted(self._readers, partial(work, db)))
        if isinstance(answer, SearchResults) and not answer.total:
            # Looked for when asked; here, where looking does not stop the loop.
            await asyncio.wrap_future(self._readers.submit(lambda: answer.did_you_mean))
        return answer

    async def _write(self, lane: str | None, work: Callable[[SessionDB], R]) -> R:
        db = await self._ready()
        async with self._lanes.entered(lane):
            return await finished(self._writers, partial(work, db))

    async def _iterate(self, at_once: int, work: Callable[[SessionDB], Iterator[R]]) -> AsyncIterator[R]:
        rows = work(await self._ready())
        while batch := await self._read(lambda _: list(islice(rows, at_once))):
            for row in batch:
                yield row


class Lanes:
    """A queue per name; whoever comes first goes first."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def entered(self, name: str | None) -> AsyncIterator[None]:
        if not isinstance(name, str):
            # No session's: either it concerns none, or the call will say what is wrong with the name.
            yield
            return
        lock, waiting = self._locks.get(name) or (asyncio.Lock(), 0)
        self._locks[name] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._locks[name]
            if waiting == 1:
                del self._locks[name]
            else:
                self._locks[name] = (lock, waiting - 1)


def submitted(pool: ThreadPoolExecutor, work: Callable[[], R]) -> Future[R]:
    try:
        return pool.submit(copy_context().run, work)
    except RuntimeError as exc:
        raise Closed("the store was closed meanwhile; open it again") from exc


async def finished(pool: ThreadPoolExecutor, work: Callable[[], R]) -> R:
    """The answer of a work that runs to its end, or never began."""
    future = submitted(pool, work)
    return await settled(asyncio.wrap_future(future), future.cancel)


async def settled(running: asyncio.Future[R], take_back: Callable[[], bool] = lambda: False) -> R:
    """Wait to the end, whoever cancels the task meanwhile; then be cancelled, if it was."""
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as exc:
            if take_back():
                raise
            cancelled = exc
    if cancelled is not None:
        raise cancelled from running.exception()
    return running.result()
