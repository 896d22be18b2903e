"""Sessions: begin, end, count tokens, list, find."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ..drafts import (
    check_cost,
    check_count,
    check_filter,
    check_id,
    check_number,
    check_text,
    check_texts,
    check_time,
    to_json,
)
from ..errors import Invalid
from ..models import RELATIONS, TOKEN_COLUMNS, Filter, ListedSession, Order, Page, SessionRow
from ..values import replace
from .handle import Handle, no_session

_TEXT_COLUMNS = (
    "user_id", "model", "system_prompt", "parent_session_id", "session_key", "chat_id", "chat_type", "thread_id",
    "display_name", "origin", "native_id", "cwd", "git_branch", "character_id", "host",
)  # fmt: skip
_ORDERS: dict[str, Order] = {"started": "started", "started_at": "started", "activity": "activity"}


@cache
def _hostname() -> str:
    return os.uname().nodename


def _json_text(value: Any, field: str) -> str | None:
    """A dict as JSON text; text is taken as it is, because `get_session` hands out text."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise Invalid(f"{field} must be a dict or JSON text, not {type(value).__name__}")
    return to_json(dict(value), field) or "{}"


def session_values(session_id: str, source: str, started_at: float, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A new session's columns, checked."""
    check_id(session_id)
    check_id(source, "source")
    unknown = fields.keys() - {*_TEXT_COLUMNS, "model_config", "metadata", "relation"}
    if unknown:
        raise Invalid(f"unknown session field {sorted(unknown)[0]!r}; known: {', '.join(sorted(_TEXT_COLUMNS))}")
    for name in _TEXT_COLUMNS:
        check_text(fields.get(name), name)
    if fields.get("relation") not in (None, *RELATIONS):
        raise Invalid(f"unknown relation {fields['relation']!r}; use one of {', '.join(RELATIONS)}")
    values = {name: value for name, value in fields.items() if value is not None}
    # An empty parent is how callers say "none"; a foreign key would not understand.
    values["parent_session_id"] = values.get("parent_session_id") or None
    for name in ("model_config", "metadata"):
        values[name] = _json_text(fields.get(name), name)
    values.setdefault("host", _hostname())
    return values | {"id": session_id, "source": source, "started_at": started_at}


def check_page(limit: int | None, offset: int) -> Page:
    check_count(limit, "limit")
    check_number(offset, "offset")
    check_number((limit or 0) + offset, "limit and offset together")
    return Page(limit, offset)


class Sessions(Handle):
    def create_session(
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
        fields |= {
            "model": model,
            "model_config": model_config,
            "system_prompt": system_prompt,
            "user_id": user_id,
            "parent_session_id": parent_session_id,
        }
        begun = self._clock() if started_at is None else check_time(started_at, "started_at")
        self.provider.create_session(self._columns(session_values(session_id, source, begun, fields)))
        return session_id

    def ensure_session(self, session_id: str, source: str = "unknown", model: str | None = None) -> None:
        """Make sure there is a row to append to, when `create_session` may have failed."""
        self.create_session(session_id, source, model)

    def get_session(self, session_id: str) -> SessionRow | None:
        check_text(session_id, "session_id")
        return self.provider.get_session(session_id)

    def end_session(self, session_id: str, end_reason: str) -> None:
        """Mark the session ended; the first reason and time win, an unknown id is ignored."""
        check_text(session_id, "session_id")
        check_text(end_reason, "end_reason")
        changes = {"ended_at": self._clock(), "end_reason": end_reason}
        self.provider.update_session(session_id, changes, unless_set="ended_at")

    def reopen_session(self, session_id: str) -> None:
        """Take the end back; the only way to end a session anew."""
        check_text(session_id, "session_id")
        self.provider.update_session(session_id, {"ended_at": None, "end_reason": None})

    def update_system_prompt(self, session_id: str, system_prompt: str) -> None:
        check_text(session_id, "session_id")
        check_text(system_prompt, "system_prompt")
        self.provider.update_session(session_id, self._columns({"system_prompt": system_prompt}))

    def update_session(self, session_id: str, **fields: Any) -> None:
        """Change descriptive fields of a session, such as cwd, git_branch, display_name or metadata."""
        check_text(session_id, "session_id")
        for name in fields.keys() & {*_TEXT_COLUMNS}:
            check_text(fields[name], name)
        unknown = fields.keys() - {*_TEXT_COLUMNS, "metadata"} | fields.keys() & {"parent_session_id"}
        if unknown:
            raise Invalid(f"{sorted(unknown)[0]!r} is not a field to change here")
        if "metadata" in fields:
            fields["metadata"] = _json_text(fields["metadata"], "metadata")
        if fields and not self.provider.update_session(session_id, self._columns(fields)):
            raise no_session(session_id)

    def update_token_counts(
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
        check_text(session_id, "session_id")
        counts = (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens)
        amounts: dict[str, float | None] = dict(zip(TOKEN_COLUMNS, counts, strict=True))
        for name, count in amounts.items():
            check_number(count, name)
        amounts["estimated_cost_usd"] = check_cost(estimated_cost_usd, "estimated_cost_usd")
        amounts["actual_cost_usd"] = check_cost(actual_cost_usd, "actual_cost_usd")
        facts = {
            "model": model,
            "billing_provider": billing_provider,
            "billing_base_url": billing_base_url,
            "billing_mode": billing_mode,
            "cost_status": cost_status,
            "cost_source": cost_source,
            "pricing_version": pricing_version,
        }
        for name, fact in facts.items():
            check_text(fact, name)
        self.provider.add_usage(session_id, amounts, facts, absolute=absolute)

    def archive_session(self, session_id: str, archived: bool = True) -> None:
        """Hide a session from lists, or show it again; search still finds it. Raises NotFound."""
        self._stamp(session_id, "archived_at", archived)

    def pin_session(self, session_id: str, pinned: bool = True) -> None:
        """Keep a session from ever being pruned, or let go of it. Raises NotFound."""
        self._stamp(session_id, "pinned_at", pinned)

    def _stamp(self, session_id: str, column: str, on: bool) -> None:
        check_text(session_id, "session_id")
        if not self.provider.update_session(session_id, {column: self._clock() if on else None}):
            raise no_session(session_id)

    def tag_session(self, session_id: str, *tags: str) -> list[str]:
        """Add tags and return all the session has. Raises NotFound."""
        check_text(session_id, "session_id")
        return self.provider.change_tags(session_id, [_tag(tag) for tag in tags], ())

    def untag_session(self, session_id: str, *tags: str) -> list[str]:
        """Remove tags and return what is left. Raises NotFound."""
        check_text(session_id, "session_id")
        return self.provider.change_tags(session_id, (), [_tag(tag) for tag in tags])

    def get_tags(self, session_id: str) -> list[str]:
        check_text(session_id, "session_id")
        return self.provider.change_tags(session_id, (), ())

    def resolve_session_id(self, id_or_prefix: str) -> str | None:
        """The full id for an id or a prefix that only one session has; nothing is no prefix."""
        check_text(id_or_prefix, "session_id")
        found = self.provider.find_ids(id_or_prefix or "", 2)
        if id_or_prefix in found:
            return id_or_prefix
        return found[0] if id_or_prefix and len(found) == 1 else None

    def list_sessions_rich(
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
        check_text(source, "source")
        chosen = check_filter(where, Filter(archived=False))
        excluded = check_texts(exclude_sources, "exclude_sources")
        selection = Filter(
            **{name: getattr(chosen, name) for name in Filter.__match_args__}
            | ({"sources": (source,)} if source is not None else {})
            | ({"exclude_sources": excluded} if excluded else {})
            | {"children": include_children, "tips": project_compression_tips and not include_children}
        )
        return self.provider.list_sessions(selection, check_page(limit, offset), _order(order_by))

    def search_sessions(self, source: str | None = None, limit: int = 20, offset: int = 0) -> list[SessionRow]:
        """A plain listing, newest started first; text is found by `search_messages`."""
        check_text(source, "source")
        where = Filter(sources=None if source is None else (source,))
        rows = self.provider.list_sessions(where, check_page(limit, offset), "started")
        return [_without_preview(row) for row in rows]

    def session_count(self, source: str | None = None, *, where: Filter | None = None) -> int:
        check_text(source, "source")
        chosen = check_filter(where)
        return self.provider.count_sessions(chosen if source is None else replace(chosen, sources=(source,)))


def _without_preview(row: ListedSession) -> SessionRow:
    return {name: value for name, value in row.items() if name != "preview"}  # type: ignore[return-value]


def _order(name: str) -> Order:
    if not isinstance(name, str) or name not in _ORDERS:
        raise Invalid(f"unknown order {name!r}; use 'started' or 'activity'")
    return _ORDERS[name]


def _tag(tag: Any) -> str:
    if not isinstance(tag, str) or not tag.strip() or len(tag.strip()) > 64:
        raise Invalid(f"a tag is a text of 1 to 64 characters, not {tag!r}")
    return tag.strip()
