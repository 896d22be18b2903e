"""Deleting, and taking it back."""

from __future__ import annotations

from ..drafts import check_days, check_filter, check_id, check_text
from ..models import Filter, ListedSession, Page, SessionRow
from ..values import replace
from .handle import Handle
from .sessions import check_page

DAY = 86_400.0
TRASH_DAYS = 30


class Trash(Handle):
    def delete_session(self, session_id: str, *, hard: bool = False) -> bool:
        """Move a session to the trash, or destroy it if `hard`; False for an unknown id. Children are kept."""
        check_text(session_id, "session_id")
        return bool(self.provider.delete_sessions(Filter(ids=(session_id,)), deleted_at=self._clock(), hard=hard))

    def prune_sessions(
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
        selection = self._prunable(older_than_days, source, where)
        if dry_run:
            return self.provider.count_sessions(selection)
        return len(self.provider.delete_sessions(selection, deleted_at=self._clock(), hard=hard))

    def list_prunable(
        self, older_than_days: float = 90, source: str | None = None, *, where: Filter | None = None
    ) -> list[ListedSession]:
        """The sessions that `prune_sessions` would take."""
        return self.provider.list_sessions(self._prunable(older_than_days, source, where), Page(None), "started")

    def _prunable(self, days: float, source: str | None, where: Filter | None) -> Filter:
        check_text(source, "source")
        begun_before = self._clock() - check_days(days) * DAY
        chosen = check_filter(where)
        if source is not None:
            chosen = replace(chosen, sources=(source,))
        return replace(chosen, ended=True, pinned=False, started_before=begun_before)

    def list_trash(self, limit: int | None = 20, offset: int = 0) -> list[SessionRow]:
        """Deleted sessions, the last deleted first."""
        return self.provider.list_trash(check_page(limit, offset))

    def restore_deleted(self, session_id: str, *, new_id: str | None = None, new_title: bool = False) -> str:
        """Bring a deleted session back with its messages, tags and links, and return its id.

        Raises NotFound when it is not in the trash, AlreadyExists when its id is in use again (give `new_id`),
        TitleTaken when its title is (`new_title=True` takes the next number of the lineage).
        """
        check_text(session_id, "session_id")
        if new_id is not None:
            check_id(new_id, "new_id")
        return self.provider.restore(session_id, new_id=new_id, new_title=new_title)

    def empty_trash(self, older_than_days: float = TRASH_DAYS) -> int:
        """Destroy what has been in the trash for so many days; returns how many sessions. Nothing else ever does."""
        return self.provider.empty_trash(self._clock() - check_days(older_than_days) * DAY)
