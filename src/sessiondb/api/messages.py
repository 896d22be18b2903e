"""Messages: append, read, replace, rewind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .. import media, replay
from ..drafts import check_count, check_text, check_texts, checked_media, draft
from ..errors import Invalid
from ..ledger import tally
from ..models import Draft, MediaRefRow, Merged, MessageRow, ToolCallRow
from ..rows import message_row
from .handle import Handle, no_session


def listed(messages: Any) -> Iterable[Mapping[str, Any]]:
    """Messages as they were given, if they are several."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise Invalid(f"messages must be a list of dicts, not {type(messages).__name__}")
    return messages


class Messages(Handle):
    def append_message(
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
        given = {"role": role, "content": content, **fields}
        # One by one: most appends give none of these, and a dict of them all takes longer than the questions.
        if tool_name is not None:
            given["tool_name"] = tool_name
        if tool_calls is not None:
            given["tool_calls"] = tool_calls
        if tool_call_id is not None:
            given["tool_call_id"] = tool_call_id
        if token_count is not None:
            given["token_count"] = token_count
        if finish_reason is not None:
            given["finish_reason"] = finish_reason
        if reasoning is not None:
            given["reasoning"] = reasoning
        if reasoning_details is not None:
            given["reasoning_details"] = reasoning_details
        if codex_reasoning_items is not None:
            given["codex_reasoning_items"] = codex_reasoning_items
        if timestamp is not None:
            given["timestamp"] = timestamp
        if message_key is not None:
            given["message_key"] = message_key
        check_text(session_id, "session_id")
        check_count(expected_seq, "expected_seq")
        made = self._draft(given, float(self._clock()))
        return self.provider.append(session_id, (made,), expected_seq=expected_seq)[0]

    def append_messages(
        self, session_id: str, messages: Iterable[Mapping[str, Any]], *, expected_seq: int | None = None
    ) -> list[int]:
        """Store messages in order in one transaction, all or nothing, and return their ids.

        Each is a dict with the names of `append_message`: {"role": "user", "content": "..."}.
        """
        check_text(session_id, "session_id")
        check_count(expected_seq, "expected_seq")
        return self.provider.append(session_id, self._drafts(messages), expected_seq=expected_seq)

    def replace_messages(self, session_id: str, messages: Iterable[Mapping[str, Any]]) -> list[int]:
        """Put `messages` in the place of all there are, in one transaction. Raises NotFound."""
        check_text(session_id, "session_id")
        return self.provider.replace_messages(session_id, self._drafts(messages))

    def merge_messages(
        self, session_id: str, messages: Iterable[Mapping[str, Any]], *, hidden: Sequence[str] = ()
    ) -> Merged:
        """Bring messages of another store up to date here: new keys are appended, changed content is rewritten.

        Each needs a `message_key`, and may say `active`: 0 hides it, and so do the keys in `hidden`; nothing hidden is
        shown again. Raises NotFound.
        """
        check_text(session_id, "session_id")
        now = float(self._clock())
        return self.provider.merge(
            session_id,
            [self._merging(number, each, now) for number, each in enumerate(listed(messages))],
            check_texts(hidden, "hidden"),
        )

    def _merging(self, number: int, message: Mapping[str, Any], now: float) -> Draft:
        if not isinstance(message, Mapping) or not message.get("message_key"):
            raise Invalid(f"message {number} needs a message_key to be merged by")
        given = {name: value for name, value in message.items() if value is not None}
        active = given.pop("active", 1)
        made = self._draft(given, now)
        made.active = 1 if active else 0
        return made

    def _drafts(self, messages: Iterable[Mapping[str, Any]]) -> list[Draft]:
        messages = listed(messages)
        now, made = float(self._clock()), []
        limit, as_given = self.provider.features.max_content_bytes, not self._redacting
        try:
            for message in messages:
                if as_given and message.__class__ is dict and message.get("content").__class__ is str:
                    made.append(draft(message, now, limit))
                else:
                    made.append(self._draft(message, now))
        except Invalid as exc:
            raise Invalid(f"message {len(made)}: {exc}") from exc
        tally(len(made))
        return made

    def _draft(self, message: Mapping[str, Any], now: float) -> Draft:
        limit = self.provider.features.max_content_bytes
        if message.__class__ is dict and message.get("content").__class__ is str and not self._redacting:
            return draft(message, now, limit)
        if not isinstance(message, Mapping):
            raise Invalid(f"a message must be a dict, not {type(message).__name__}")
        content = message.get("content")
        if isinstance(content, list | dict):
            given = checked_media(message.get("media_refs"))
            content, found = media.extract(content, self._media_store().put)
            message = {**message, "content": content, "media_refs": [*found, *given]}
        return draft(self._message(message), now, limit)

    def _message(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """A message as it is to be stored."""
        if not self._redacting or not isinstance(message, Mapping):
            return message
        from .. import clean_rows

        return clean_rows.message(message)

    def get_messages(
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
        check_text(session_id, "session_id")
        for name, value in (("limit", limit), ("after", after), ("before", before)):
            check_count(value, name)
        return self.provider.get_messages(
            session_id, after=after, before=before, limit=limit, newest=newest, include_inactive=include_inactive
        )

    def iter_messages(self, session_id: str, *, include_inactive: bool = False) -> Iterator[MessageRow]:
        """The messages one by one, read in batches: a long conversation needs no room. None for an unknown id."""
        check_text(session_id, "session_id")
        for row in self.provider.stored_messages(session_id):
            if include_inactive or row["active"]:
                yield message_row(row)

    def get_messages_around(self, session_id: str, message_id: int, *, window: int = 5) -> list[MessageRow]:
        """The message with up to `window` neighbours on both sides, of the same session. Raises NotFound."""
        check_count(window, "window")
        seq = self._position(session_id, message_id)
        before = self.provider.get_messages(session_id, before=seq, limit=window, newest=True) if window else []
        return before + self.provider.get_messages(session_id, after=seq - 1, limit=window + 1)

    def get_messages_as_conversation(
        self, session_id: str, *, timestamps: bool = False, repair: bool = False
    ) -> list[dict[str, Any]]:
        """The conversation in the form model APIs take; `repair` closes tool calls that a crash left open."""
        check_text(session_id, "session_id")
        turns = self.provider.get_turns(session_id)
        for turn in turns:
            if not timestamps:
                del turn["timestamp"]
            if turn["content"].__class__ is not str and turn["content"] is not None:
                turn["content"] = media.inline(turn["content"], self._media_store().find)
        return replay.repaired(turns) if repair else turns

    def message_count(self, session_id: str | None = None) -> int:
        check_text(session_id, "session_id")
        return self.provider.count_messages(session_id)

    def clear_messages(self, session_id: str) -> None:
        """Remove all messages; tokens, costs and title stay. An unknown id is ignored."""
        check_text(session_id, "session_id")
        self.provider.clear_messages(session_id)

    def rewind_to_message(self, session_id: str, message_id: int) -> int:
        """Hide everything after a message and return how many were hidden. Raises NotFound."""
        return self.provider.set_active(session_id, self._position(session_id, message_id), False)

    def restore_rewound(self, session_id: str) -> int:
        """Show everything that was hidden and return how many came back. Raises NotFound."""
        check_text(session_id, "session_id")
        if self.provider.get_session(session_id) is None:
            raise no_session(session_id)
        return self.provider.set_active(session_id, 0, True)

    def get_tool_calls(self, session_id: str) -> list[ToolCallRow]:
        """The tool calls of a session with their status and the beginning of their results."""
        check_text(session_id, "session_id")
        return self.provider.get_tool_calls(session_id)

    def get_media_refs(self, session_id: str) -> list[MediaRefRow]:
        """Pictures, sounds and files of a session, by path or hash."""
        check_text(session_id, "session_id")
        return self.provider.get_media_refs(session_id)
