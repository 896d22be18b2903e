"""Lineage: continuations after compression, forks, sub-agents.

Written by tools/make_async.py from api/lineage.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handle import AsyncHandle

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ..models import SessionRow


class AsyncLineage(AsyncHandle):
    async def ancestors(self, session_id: str) -> list[SessionRow]:
        """The parent, its parent, and so on up to the root; safe on cycles."""
        return await self._read(lambda db: db.ancestors(session_id))

    async def descendants(self, session_id: str) -> list[SessionRow]:
        """Every session below, parents before children; safe on cycles."""
        return await self._read(lambda db: db.descendants(session_id))

    async def lineage_root(self, session_id: str) -> str:
        """The id of the first session of the lineage; the id itself when it has no parent or is unknown."""
        return await self._read(lambda db: db.lineage_root(session_id))

    async def family(self, session_id: str) -> list[SessionRow]:
        """The whole tree the session belongs to, root first. Raises NotFound."""
        return await self._read(lambda db: db.family(session_id))

    async def get_compression_tip(self, session_id: str) -> str:
        """The newest continuation of a compressed session; the id itself when there is none."""
        return await self._read(lambda db: db.get_compression_tip(session_id))

    async def resolve_resume_session_id(self, session_id: str) -> str:
        """Where to go on: the id itself if it has messages, else the newest descendant that has some."""
        return await self._read(lambda db: db.resolve_resume_session_id(session_id))

    async def rotate_session(
        self,
        session_id: str,
        *,
        new_id: str | None = None,
        system_prompt: str | None = None,
        messages: Iterable[Mapping[str, Any]] = (),
        **fields: Any,
    ) -> str:
        """Continue a compressed conversation in a new session, in one transaction, and return its id.

        The old one ends with reason "compression", the new one gets the next title of the lineage and begins with
        `messages`, such as a summary. Called twice, it returns the continuation that exists. Raises NotFound.
        """
        return await self._write(
            session_id,
            lambda db: db.rotate_session(
                session_id, new_id=new_id, system_prompt=system_prompt, messages=messages, **fields
            ),
        )

    async def fork_session(
        self, session_id: str, *, at_message: int | None = None, new_id: str | None = None, source: str | None = None
    ) -> str:
        """Copy a conversation, up to and including `at_message`, into a new session, and return its id.

        Raises NotFound for an unknown session or message.
        """
        return await self._write(
            session_id, lambda db: db.fork_session(session_id, at_message=at_message, new_id=new_id, source=source)
        )
