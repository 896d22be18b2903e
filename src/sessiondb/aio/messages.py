"""Messages: append, read, replace, rewind.

Written by tools/make_async.py from api/messages.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .handle import AsyncHandle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from typing import Any

    from ..models import MediaRefRow, Merged, MessageRow, ToolCallRow


class AsyncMessages(AsyncHandle):
    async def append_message(
        self,
        session_id: str,
        role: str,
        content: Any = None,
        tool_name: str | None = None,
        tool_calls: Any = None,
        tool_call_id: str | None = None,
        token_count: int | None = None,
        finish_reason: str | None = None,
        reasoning: str | None = None,
        reasoning_details: Any = None,
        codex_reasoning_items: Any = None,
        *,
        timestamp: float | None = None,
        message_key: str | None = None,
        expected_seq: int | None = None,
        **fields: Any,
    ) -> int:
        """Store a message durably and return its id; or raise, and nothing of it remains.

        A retry with the same `message_key` is the same message. With `expected_seq`, a writer who has not seen the
        session's last message gets `Conflict`. Further fields: content_type, provider, model, input_tokens,
        output_tokens, injected, metadata, media_refs.
        """
        return await self._write(
            session_id,
            lambda db: db.append_message(
                session_id,
                role,
                content,
                tool_name,
                tool_calls,
                tool_call_id,
                token_count,
                finish_reason,
                reasoning,
                reasoning_details,
                codex_reasoning_items,
                timestamp=timestamp,
                message_key=message_key,
                expected_seq=expected_seq,
                **fields,
            ),
        )

    async def append_messages(
        self, session_id: str, messages: Iterable[Mapping[str, Any]], *, expected_seq: int | None = None
    ) -> list[int]:
        """Store messages in order in one transaction, all or nothing, and return their ids.

        Each is a dict with the names of `append_message`: {"role": "user", "content": "..."}.
        """
        return await self._write(
            session_id, lambda db: db.append_messages(session_id, messages, expected_seq=expected_seq)
        )

    async def replace_messages(self, session_id: str, messages: Iterable[Mapping[str, Any]]) -> list[int]:
        """Put `messages` in the place of all there are, in one transaction. Raises NotFound."""
        return await self._write(session_id, lambda db: db.replace_messages(session_id, messages))

    async def merge_messages(
        self, session_id: str, messages: Iterable[Mapping[str, Any]], *, hidden: Sequence[str] = ()
    ) -> Merged:
        """Bring messages of another store up to date here: new keys are appended, changed content is rewritten.

        Each needs a `message_key`, and may say `active`: 0 hides it, and so do the keys in `hidden`; nothing hidden is
        shown again. Raises NotFound.
        """
        return await self._write(session_id, lambda db: db.merge_messages(session_id, messages, hidden=hidden))

    async def get_messages(
        self,
        session_id: str,
        *,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        include_inactive: bool = False,
    ) -> list[MessageRow]:
        """Messages in the order they were stored; [] for an unknown id.

        Page by position (`seq`): `after=` the last one seen, or `newest=True` for the end of the conversation.
        Bytes of pictures stand here by their hash; `get_messages_as_conversation` puts them back.
        """
        return await self._read(
            lambda db: db.get_messages(
                session_id, after=after, before=before, limit=limit, newest=newest, include_inactive=include_inactive
            )
        )

    def iter_messages(self, session_id: str, *, include_inactive: bool = False) -> AsyncIterator[MessageRow]:
        """The messages one by one, read in batches: a long conversation needs no room. None for an unknown id."""
        return self._iterate(200, lambda db: db.iter_messages(session_id, include_inactive=include_inactive))

    async def get_messages_around(self, session_id: str, message_id: int, *, window: int = 5) -> list[MessageRow]:
        """The message with up to `window` neighbours on both sides, of the same session. Raises NotFound."""
        return await self._read(lambda db: db.get_messages_around(session_id, message_id, window=window))

    async def get_messages_as_conversation(
        self, session_id: str, *, timestamps: bool = False, repair: bool = False
    ) -> list[dict[str, Any]]:
        """The conversation in the form model APIs take; `repair` closes tool calls that a crash left open."""
        return await self._read(
            lambda db: db.get_messages_as_conversation(session_id, timestamps=timestamps, repair=repair)
        )

    async def message_count(self, session_id: str | None = None) -> int:
        return await self._read(lambda db: db.message_count(session_id))

    async def clear_messages(self, session_id: str) -> None:
        """Remove all messages; tokens, costs and title stay. An unknown id is ignored."""
        return await self._write(session_id, lambda db: db.clear_messages(session_id))

    async def rewind_to_message(self, session_id: str, message_id: int) -> int:
        """Hide everything after a message and return how many were hidden. Raises NotFound."""
        return await self._write(session_id, lambda db: db.rewind_to_message(session_id, message_id))

    async def restore_rewound(self, session_id: str) -> int:
        """Show everything that was hidden and return how many came back. Raises NotFound."""
        return await self._write(session_id, lambda db: db.restore_rewound(session_id))

    async def get_tool_calls(self, session_id: str) -> list[ToolCallRow]:
        """The tool calls of a session with their status and the beginning of their results."""
        return await self._read(lambda db: db.get_tool_calls(session_id))

    async def get_media_refs(self, session_id: str) -> list[MediaRefRow]:
        """Pictures, sounds and files of a session, by path or hash."""
        return await self._read(lambda db: db.get_media_refs(session_id))
