"""Titles of sessions, and the numbered titles of a lineage.

Written by tools/make_async.py from api/titles.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..db import SessionDB
from .handle import AsyncHandle

if TYPE_CHECKING:
    from ..models import SessionRow


class AsyncTitles(AsyncHandle):
    @staticmethod
    def sanitize_title(title: str | None) -> str | None:
        """The title as it would be stored; None when nothing visible is left. Raises Invalid above 100 characters."""
        return SessionDB.sanitize_title(title)

    async def set_session_title(self, session_id: str, title: str | None) -> bool:
        """Set a title, or clear it with an empty one; False for an unknown id. Raises TitleTaken, naming the holder."""
        return await self._write(session_id, lambda db: db.set_session_title(session_id, title))

    async def set_auto_title_if_empty(self, session_id: str, title: str, source: str = "llm") -> bool:
        """Give a title only to a session that has none: a person's choice is never overwritten.

        A taken title gets the next number of its lineage.
        """
        return await self._write(session_id, lambda db: db.set_auto_title_if_empty(session_id, title, source))

    async def get_session_title(self, session_id: str) -> str | None:
        return await self._read(lambda db: db.get_session_title(session_id))

    async def get_session_by_title(self, title: str) -> SessionRow | None:
        return await self._read(lambda db: db.get_session_by_title(title))

    async def resolve_session_by_title(self, title: str) -> str | None:
        """The newest session of a lineage, or the one with exactly this title."""
        return await self._read(lambda db: db.resolve_session_by_title(title))

    async def get_next_title_in_lineage(self, base_title: str) -> str:
        """The next free title: "x" when nobody has it, else "x #2", "x #3"; never longer than a title may be."""
        return await self._read(lambda db: db.get_next_title_in_lineage(base_title))
