"""Numbers and small facts about the store.

Written by tools/make_async.py from api/stats.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handle import AsyncHandle

if TYPE_CHECKING:
    from typing import Any

    from ..models import Filter, SessionRow
    from ..verify import Report, Tick


class AsyncStats(AsyncHandle):
    async def usage_by_model(self, *, where: Filter | None = None) -> list[dict[str, Any]]:
        """Sessions, tokens and costs per model, dearest first; a cost nobody reported is None, not 0."""
        return await self._read(lambda db: db.usage_by_model(where=where))

    async def top_sessions_by_tokens(self, limit: int = 10, *, where: Filter | None = None) -> list[SessionRow]:
        return await self._read(lambda db: db.top_sessions_by_tokens(limit, where=where))

    async def stats(self) -> dict[str, Any]:
        """How many sessions and messages, by source, and the size on disk."""
        return await self._read(lambda db: db.stats())

    async def get_meta(self, key: str) -> str | None:
        return await self._read(lambda db: db.get_meta(key))

    async def set_meta(self, key: str, value: str | None) -> None:
        """Keep a small text under a key; None removes it."""
        return await self._write(None, lambda db: db.set_meta(key, value))

    async def verify(self, session_id: str | None = None, *, tick: Tick | None = None) -> Report:
        """Recompute every position and ledger; the report names session and position of what does not fit."""
        return await self._read(lambda db: db.verify(session_id, tick=tick))
