"""The shapes of the rows callers see. Only type checkers read this: making these classes would slow every start."""

from __future__ import annotations

from typing import Any, TypedDict


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
    """One match of `search_messages`: the seed's keys, then ours.

    `matched` is "message", or "title": then role is "title", and id that of the session's first message, 0 if none.
    """

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
    matched: str


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


class ImportFileRow(TypedDict, total=False):
    """How far a file of another agent was read; `state` is the importer's own JSON."""

    path: str
    inode: int | None
    size: int | None
    mtime: float | None
    read_offset: int | None
    head_hash: str | None
    origin: str | None
    state: str | None
