"""What callers see and what providers exchange: typed rows, filters, pages; no I/O.

Rows are plain dicts. The column tuples are the one list of names that the SQL core, the memory provider, the trash
and the exports share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

Order = Literal["started", "activity"]
SearchOrder = Literal["relevance", "newest", "oldest"]
Relation = Literal["root", "compression", "subagent", "fork", "reset"]

RELATIONS = ("root", "compression", "subagent", "fork", "reset")
MAX_TITLE_LENGTH = 100
ROLES = frozenset({"user", "assistant", "system", "tool", "developer", "function", "session_meta", "meta"})
AUTOMATION_SOURCES = ("cron", "subagent", "tool")

SESSION_COLUMNS = (
    "id", "source", "user_id", "model", "model_config", "system_prompt", "parent_session_id",
    "started_at", "ended_at", "end_reason", "message_count", "tool_call_count",
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
    "billing_provider", "billing_base_url", "billing_mode",
    "estimated_cost_usd", "actual_cost_usd", "cost_status", "cost_source", "pricing_version", "title",
    "session_key", "chat_id", "chat_type", "thread_id", "display_name",
    "last_active", "last_message_id", "last_seq", "ledger", "relation", "title_source",
    "origin", "native_id", "cwd", "git_branch", "archived_at", "pinned_at", "deleted_at",
    "character_id", "host", "metadata",
)  # fmt: skip

MESSAGE_COLUMNS = (
    "id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp",
    "token_count", "finish_reason", "reasoning", "reasoning_details", "codex_reasoning_items",
    "seq", "term", "message_key", "content_type", "provider", "model",
    "input_tokens", "output_tokens", "active", "injected", "metadata",
)  # fmt: skip

# The columns whose numbers the store keeps itself; callers never set them.
SESSION_COUNTERS = ("message_count", "tool_call_count", "last_message_id", "last_seq", "ledger")
TOKEN_COLUMNS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class SessionRow(TypedDict, total=False):
    """A session as `get_session` returns it. Epoch seconds as floats; `model_config` is JSON text, as stored."""

    id: str
    source: str
    user_id: str | None
    model: str | None
    model_config: str | None
    system_prompt: str | None
    parent_session_id: str | None
    started_at: float
    ended_at: float | None
    end_reason: str | None
    message_count: int
    tool_call_count: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    billing_provider: str | None
    billing_base_url: str | None
    billing_mode: str | None
    estimated_cost_usd: float | None
    actual_cost_usd: float | None
    cost_status: str | None
    cost_source: str | None
    pricing_version: str | None
    title: str | None
    session_key: str | None
    chat_id: str | None
    chat_type: str | None
    thread_id: str | None
    display_name: str | None
    last_active: float | None
    last_message_id: int | None
    last_seq: int
    ledger: int
    relation: str
    title_source: str | None
    origin: str | None
    native_id: str | None
    cwd: str | None
    git_branch: str | None
    archived_at: float | None
    pinned_at: float | None
    deleted_at: float | None
    character_id: str | None
    host: str | None
    metadata: dict[str, Any] | None


class ListedSession(SessionRow, total=False):
    """A session in a list: with its first prompt, and its last activity filled in."""

    preview: str


class MessageRow(TypedDict, total=False):
    """A message as `get_messages` returns it: content, tool calls and metadata decoded, the rest as stored."""

    id: int
    session_id: str
    role: str
    content: Any
    tool_call_id: str | None
    tool_calls: Any
    tool_name: str | None
    timestamp: float
    token_count: int | None
    finish_reason: str | None
    reasoning: str | None
    reasoning_details: str | None
    codex_reasoning_items: str | None
    seq: int | None
    term: int | None
    message_key: str | None
    content_type: str | None
    provider: str | None
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    active: int
    injected: int
    metadata: dict[str, Any] | None


class ContextLine(TypedDict):
    role: str
    content: str


class SearchHit(TypedDict, total=False):
    """One match of `search_messages`: the seed's keys, then ours."""

    id: int
    session_id: str
    role: str
    snippet: str
    timestamp: float
    tool_name: str | None
    source: str
    model: str | None
    session_started: float
    context: list[ContextLine]
    title: str | None
    score: float


class ToolCallRow(TypedDict):
    id: int
    session_id: str
    message_id: int
    call_id: str | None
    tool_name: str | None
    arguments: str | None
    result_summary: str | None
    status: str
    created_at: float
    completed_at: float | None


class MediaRefRow(TypedDict):
    id: int
    session_id: str
    message_id: int
    kind: str
    path: str | None
    mime_type: str | None
    sha256: str | None
    size: int | None
    metadata: dict[str, Any] | None


TOOL_CALL_COLUMNS = (
    "id", "session_id", "message_id", "call_id", "tool_name", "arguments",
    "result_summary", "status", "created_at", "completed_at",
)  # fmt: skip
MEDIA_REF_COLUMNS = ("id", "session_id", "message_id", "kind", "path", "mime_type", "sha256", "size", "metadata")


@dataclass(slots=True)
class Draft:
    """A message ready to be stored: `values` holds every stored column but id, seq, term and active.

    `seq` is set only by imports, which keep the positions of the original.
    """

    values: dict[str, Any]
    digest: int
    calls: Sequence[dict[str, Any]] = ()
    media: Sequence[dict[str, Any]] = ()
    seq: int | None = None
    active: int = 1


@dataclass(frozen=True, slots=True)
class Filter:
    """Which sessions; every field that is set must hold. Serves list, count, search, prune and export alike."""

    ids: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    exclude_sources: Sequence[str] = ()
    user_id: str | None = None
    chat_id: str | None = None
    session_key: str | None = None
    model: str | None = None
    cwd: str | None = None
    tags: Sequence[str] = ()
    title_contains: str | None = None
    started_before: float | None = None
    started_since: float | None = None
    active_since: float | None = None
    active_until: float | None = None
    ended: bool | None = None
    archived: bool | None = None
    pinned: bool | None = None
    children: bool = True
    tips: bool = False


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages of the sessions a `Filter` selects."""

    roles: Sequence[str] = ()
    since: float | None = None
    until: float | None = None
    include_inactive: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    limit: int | None = 20
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """A provider's answer for one found message."""

    message: MessageRow
    score: float


@dataclass(frozen=True, slots=True)
class Matches:
    """A page of matches, with what is known about the rest."""

    hits: Sequence[Match]
    total: int
    index_lag: int = 0
    notices: Sequence[str] = field(default_factory=tuple)
