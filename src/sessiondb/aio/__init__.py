"""`AsyncSessionDB`: the methods of `SessionDB`, awaited.

    async with AsyncSessionDB() as db:
        await db.append_message(session_id, "user", "hello")
        async for message in db.iter_messages(session_id):
            ...

The files beside this one and `handle.py` are written by `tools/make_async.py` from those of `api/`.
"""

from __future__ import annotations

import os
import time
from functools import partial
from types import TracebackType
from typing import Any, Self

from ..db import SessionDB
from ..ids import Clock
from ..provider import SessionDBProvider
from .handle import THREADS
from .lineage import AsyncLineage
from .messages import AsyncMessages
from .search import AsyncSearch
from .sessions import AsyncSessions
from .stats import AsyncStats
from .titles import AsyncTitles
from .transfer import AsyncTransfer
from .trash import AsyncTrash


class AsyncSessionDB(
    AsyncSessions, AsyncTitles, AsyncMessages, AsyncLineage, AsyncSearch, AsyncTransfer, AsyncTrash, AsyncStats
):
    """The conversations of agents, for programs with an event loop; it blocks none, and has its own threads.

    Writes to a session happen in the order they were asked for. A cancelled call that waits never happens; one that
    has begun is awaited to its end.
    """

    MAX_TITLE_LENGTH = SessionDB.MAX_TITLE_LENGTH

    def __init__(
        self,
        db_path: str | os.PathLike[str] | None = None,
        *,
        read_only: bool = False,
        clock: Clock = time.time,
        provider: SessionDBProvider | None = None,
        threads: int = THREADS,
        **options: Any,
    ) -> None:
        """The arguments of `SessionDB`; opened by `async with`, or by the first call.

        `threads` is how many reads, and how many writes to different sessions, may run at once.
        """
        opening = partial(SessionDB, db_path, read_only=read_only, clock=clock, provider=provider, **options)
        super().__init__(opening, threads)

    async def __aenter__(self) -> Self:
        try:
            await self.open()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Async{repr(self._db)[1:]}" if self._db is not None else "<AsyncSessionDB, not open>"
