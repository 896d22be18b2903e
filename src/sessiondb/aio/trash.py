"""Deleting, and taking it back.

Written by tools/make_async.py from api/trash.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..api.trash import TRASH_DAYS
from .handle import AsyncHandle

if TYPE_CHECKING:
    from ..models import Filter, ListedSession, SessionRow


class AsyncTrash(AsyncHandle):
    async def delete_session(self, session_id: str, *, hard: bool = False) -> bool:
        """Move a session to the trash, or destroy it if `hard`; False for an unknown id. Children are kept."""
        return await self._write(session_id, lambda db: db.delete_session(session_id, hard=hard))

    async def prune_sessions(
        self,
        older_than_days: float = 90,
        source: str | None = None,
        *,
        where: Filter | None = None,
        dry_run: bool = False,
        hard: bool = False,
    ) -> int:
        """Move ended sessions that started more than so many days ago to the trash; returns how many.

        Open and pinned sessions are never touched; children that stay lose their parent.
        """
        return await self._write(
            None, lambda db: db.prune_sessions(older_than_days, source, where=where, dry_run=dry_run, hard=hard)
        )

    async def list_prunable(
        self, older_than_days: float = 90, source: str | None = None, *, where: Filter | None = None
    ) -> list[ListedSession]:
        """The sessions that `prune_sessions` would take."""
        return await self._read(lambda db: db.list_prunable(older_than_days, source, where=where))

    async def list_trash(self, limit: int | None = 20, offset: int = 0) -> list[SessionRow]:
        """Deleted sessions, the last deleted first."""
        return await self._read(lambda db: db.list_trash(limit, offset))

    async def restore_deleted(self, session_id: str, *, new_id: str | None = None, new_title: bool = False) -> str:
        """Bring a deleted session back with its messages, tags and links, and return its id.

        Raises NotFound when it is not in the trash, AlreadyExists when its id is in use again (give `new_id`),
        TitleTaken when its title is (`new_title=True` takes the next number of the lineage).
        """
        return await self._write(
            session_id, lambda db: db.restore_deleted(session_id, new_id=new_id, new_title=new_title)
        )

    async def empty_trash(self, older_than_days: float = TRASH_DAYS) -> int:
        """Destroy what has been in the trash for so many days; returns how many sessions. Nothing else ever does."""
        return await self._write(None, lambda db: db.empty_trash(older_than_days))
