"""Sessions: begin, end, count tokens, list, find.

Written by tools/make_async.py from api/sessions.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handle import AsyncHandle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..models import Filter, ListedSession, SessionRow


class AsyncSessions(AsyncHandle):
    async def create_session(
        self,
        session_id: str,
        source: str,
        model: str | None = None,
        model_config: Mapping[str, Any] | str | None = None,
        system_prompt: str | None = None,
        user_id: str | None = None,
        parent_session_id: str | None = None,
        *,
        started_at: float | None = None,
        **fields: Any,
    ) -> str:
        """Begin a session; a second call for the same id changes nothing: the first write wins.

        Further fields: session_key, chat_id, chat_type, thread_id, display_name, cwd, git_branch, origin, native_id,
        character_id, host, relation, metadata. Raises NotFound for an unknown parent.
        """
        return await self._write(
            session_id,
            lambda db: db.create_session(
                session_id,
                source,
                model,
                model_config,
                system_prompt,
                user_id,
                parent_session_id,
                started_at=started_at,
                **fields,
            ),
        )

    async def ensure_session(self, session_id: str, source: str = "unknown", model: str | None = None) -> None:
        """Make sure there is a row to append to, when `create_session` may have failed."""
        return await self._write(session_id, lambda db: db.ensure_session(session_id, source, model))

    async def get_session(self, session_id: str) -> SessionRow | None:
        return await self._read(lambda db: db.get_session(session_id))

    async def end_session(self, session_id: str, end_reason: str) -> None:
        """Mark the session ended; the first reason and time win, an unknown id is ignored."""
        return await self._write(session_id, lambda db: db.end_session(session_id, end_reason))

    async def reopen_session(self, session_id: str) -> None:
        """Take the end back; the only way to end a session anew."""
        return await self._write(session_id, lambda db: db.reopen_session(session_id))

    async def update_system_prompt(self, session_id: str, system_prompt: str) -> None:
        return await self._write(session_id, lambda db: db.update_system_prompt(session_id, system_prompt))

    async def update_session(self, session_id: str, **fields: Any) -> None:
        """Change descriptive fields of a session, such as cwd, git_branch, display_name or metadata."""
        return await self._write(session_id, lambda db: db.update_session(session_id, **fields))

    async def update_token_counts(
        self,
        session_id: str,
        input_tokens: int = 0,
        output_tokens: int = 0,
        model: str | None = None,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
        reasoning_tokens: int = 0,
        estimated_cost_usd: float | None = None,
        actual_cost_usd: float | None = None,
        cost_status: str | None = None,
        cost_source: str | None = None,
        pricing_version: str | None = None,
        billing_provider: str | None = None,
        billing_base_url: str | None = None,
        billing_mode: str | None = None,
        absolute: bool = False,
    ) -> None:
        """Add tokens and costs, or set them if `absolute`; a cost of None leaves the stored one alone.

        Model and billing facts fill what is unknown; cost status, source and pricing version replace.
        An unknown id is ignored.
        """
        return await self._write(
            session_id,
            lambda db: db.update_token_counts(
                session_id,
                input_tokens,
                output_tokens,
                model,
                cache_read_tokens,
                cache_write_tokens,
                reasoning_tokens,
                estimated_cost_usd,
                actual_cost_usd,
                cost_status,
                cost_source,
                pricing_version,
                billing_provider,
                billing_base_url,
                billing_mode,
                absolute,
            ),
        )

    async def archive_session(self, session_id: str, archived: bool = True) -> None:
        """Hide a session from lists, or show it again; search still finds it. Raises NotFound."""
        return await self._write(session_id, lambda db: db.archive_session(session_id, archived))

    async def pin_session(self, session_id: str, pinned: bool = True) -> None:
        """Keep a session from ever being pruned, or let go of it. Raises NotFound."""
        return await self._write(session_id, lambda db: db.pin_session(session_id, pinned))

    async def tag_session(self, session_id: str, *tags: str) -> list[str]:
        """Add tags and return all the session has. Raises NotFound."""
        return await self._write(session_id, lambda db: db.tag_session(session_id, *tags))

    async def untag_session(self, session_id: str, *tags: str) -> list[str]:
        """Remove tags and return what is left. Raises NotFound."""
        return await self._write(session_id, lambda db: db.untag_session(session_id, *tags))

    async def get_tags(self, session_id: str) -> list[str]:
        return await self._read(lambda db: db.get_tags(session_id))

    async def resolve_session_id(self, id_or_prefix: str) -> str | None:
        """The full id for an id or a prefix that only one session has; nothing is no prefix."""
        return await self._read(lambda db: db.resolve_session_id(id_or_prefix))

    async def list_sessions_rich(
        self,
        source: str | None = None,
        exclude_sources: Sequence[str] | None = None,
        limit: int = 20,
        offset: int = 0,
        include_children: bool = False,
        project_compression_tips: bool = True,
        *,
        order_by: str = "started",
        where: Filter | None = None,
    ) -> list[ListedSession]:
        """Sessions with preview and last activity, newest first, by start or by activity.

        Sub-agents' sessions are hidden unless `include_children`; a compressed conversation shows once, as its newest
        part (or, without `project_compression_tips`, as its first).
        """
        return await self._read(
            lambda db: db.list_sessions_rich(
                source,
                exclude_sources,
                limit,
                offset,
                include_children,
                project_compression_tips,
                order_by=order_by,
                where=where,
            )
        )

    async def search_sessions(self, source: str | None = None, limit: int = 20, offset: int = 0) -> list[SessionRow]:
        """A plain listing, newest started first; text is found by `search_messages`."""
        return await self._read(lambda db: db.search_sessions(source, limit, offset))

    async def session_count(self, source: str | None = None, *, where: Filter | None = None) -> int:
        return await self._read(lambda db: db.session_count(source, where=where))
