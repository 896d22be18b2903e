"""`AsyncSessionDB` for callers without an event loop: every call goes through the facade, on a loop of its own."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Self

from sessiondb import AsyncSessionDB


class Bridge:
    def __init__(self, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._facade = self.wait_for(_opened(options))

    def wait_for(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._facade, name)
        if inspect.iscoroutinefunction(found):
            return self._awaiting(found)
        if inspect.ismethod(found):
            return lambda *args, **kwargs: self._steps(found(*args, **kwargs))
        return found

    def _awaiting(self, method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self.wait_for(method(*args, **kwargs))

        return call

    def _steps(self, rows: AsyncIterator[Any]) -> Iterator[Any]:
        async def following() -> list[Any]:
            async for row in rows:
                return [row]
            return []

        while found := self.wait_for(following()):
            yield from found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def end(self) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _opened(options: dict[str, Any]) -> AsyncSessionDB:
    facade = AsyncSessionDB(**options)
    await facade.open()
    return facade
