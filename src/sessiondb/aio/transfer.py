"""Export to plain dicts, and back with ids, lineage, positions and ledger kept.

Written by tools/make_async.py from api/transfer.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handle import AsyncHandle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from typing import Any

    from ..api.transfer import ImportReport
    from ..models import Filter


class AsyncTransfer(AsyncHandle):
    async def export_session(self, session_id: str) -> dict[str, Any] | None:
        """The session's columns with `messages` (rewound ones too, active = 0), `tags` and `media_refs`; or None."""
        return await self._read(lambda db: db.export_session(session_id))

    async def export_all(self, source: str | None = None) -> list[dict[str, Any]]:
        """Every session with its messages, in memory at once; `iter_export` streams."""
        return await self._read(lambda db: db.export_all(source))

    def iter_export(self, where: Filter | None = None) -> AsyncIterator[dict[str, Any]]:
        """Sessions with their messages, one at a time, oldest first, parents before children where they can be."""
        return self._iterate(1, lambda db: db.iter_export(where))

    async def import_native(
        self, session: Mapping[str, Any], messages: Iterable[Mapping[str, Any]] = (), *, tags: Sequence[str] = ()
    ) -> bool:
        """Begin a session of another agent with its first messages, in one transaction; False when the id exists.

        `session` holds columns: id, source, started_at, origin and native_id at least. Each message needs a
        `message_key`. Raises Conflict when the origin's session is here under another id.
        """
        return await self._write(None, lambda db: db.import_native(session, messages, tags=tags))

    async def import_sessions(self, documents: Iterable[Mapping[str, Any]], *, dry_run: bool = False) -> ImportReport:
        """Take in what `export_session` gave: same ids, lineage, positions and ledger; each session all or nothing.

        A session that exists is skipped and reported, never changed. A taken title gets the next number of its lineage.
        A parent that is nowhere is left out and noted.
        """
        return await self._write(None, lambda db: db.import_sessions(documents, dry_run=dry_run))
