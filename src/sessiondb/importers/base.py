"""What a parser is, and what it yields; parsers never see the database.

A parser is a module with

    NAME = "codex"                                     the origin of its sessions, as shown and stored
    def roots(env, home) -> list[Path]                 where this agent keeps its history by default
    def find(root) -> Iterator[Path]                   the sources below such a directory
    def detect(path, head) -> bool                     whether a lone file is one of its sources
    def read(source) -> Iterator[Record]               what is in it

and, where a source is more than one file, `def stamp(path) -> tuple[int, float]`: a size and a time that change when
any of it changes. `def beside(path) -> str | None` tells what other files say about a source, such as its title: it is
looked at again when that changes.

`read` is a pure generator. It yields a `Session` before its messages; a message without `session` belongs to the
session named last. A session may be yielded again when more is known about it (a title at the end of the file): what
is not None replaces. `Usage` and the token counts are totals of the session so far, never increments: whatever is
read twice counts once.

A source that only grows is read through `source.objects()` or `source.lines()`, which begin where the last import
ended. What the parser needs to know about the part before (the id of the session, the model of the turn, totals so
far) it keeps in `source.carry`, a dict of JSON values that comes back with the next read. Whenever the parser asks for
the next line, `carry` must hold all it needs to go on from there: an import may be broken off at any line.

A message is known by its session and its `native_id`. Yielded again with the same id and other content, it is
rewritten in place. Without an id it is known by its content, time and how often that occurred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from .source import Source


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation; None means "not known", and leaves what is known from elsewhere."""

    native_id: str
    # The channel: cli, telegram, vscode, subagent, … The parser's name when None.
    source: str | None = None
    title: str | None = None
    # user (typed by a person), agent, llm, first_prompt
    title_source: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    end_reason: str | None = None
    model: str | None = None
    model_config: Mapping[str, Any] | str | None = None
    system_prompt: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    parent_native_id: str | None = None
    # compression, subagent, fork, reset; root when None
    relation: str | None = None
    user_id: str | None = None
    session_key: str | None = None
    chat_id: str | None = None
    chat_type: str | None = None
    thread_id: str | None = None
    display_name: str | None = None
    host: str | None = None
    archived_at: float | None = None
    pinned_at: float | None = None
    billing_provider: str | None = None
    billing_base_url: str | None = None
    billing_mode: str | None = None
    tags: Sequence[str] = ()
    # Another source of the agent may have told the same messages without ids.
    has_twins: bool = False
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said or did."""

    # user, assistant, tool, system, developer; meta for records that are no part of the conversation
    role: str
    # Text, or the list of parts of a multimodal message: bytes in it (data: URIs, base64) are stored by hash.
    content: Any = None
    timestamp: float | None = None
    native_id: str | None = None
    # The native id of the session; the one named last when None.
    session: str | None = None
    content_type: str | None = None
    # [{"id": …, "type": "function", "function": {"name": …, "arguments": "{…}"}}]
    tool_calls: Any = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    reasoning: str | None = None
    reasoning_details: Any = None
    codex_reasoning_items: Any = None
    provider: str | None = None
    model: str | None = None
    token_count: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None
    # Not written by the person whose role it carries: reminders, environment notes, command output.
    injected: bool = False
    # False: rewound, compacted away or on a branch that was left.
    active: bool = True
    # [{"kind": "image", "path": …, "mime_type": …, "sha256": …, "size": …}]
    media: Sequence[Mapping[str, Any]] = ()
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and costs of a session so far: totals, each response counted once. Stored totals never shrink."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    estimated_cost_usd: float | None = None
    actual_cost_usd: float | None = None
    cost_status: str | None = None
    cost_source: str | None = None
    pricing_version: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Retracted:
    """Messages read earlier, by native id, that have left the conversation since (rewound, rolled back)."""

    native_ids: Sequence[str]
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A session of our own export (or a part of one), restored as it was: ids, positions, ledger."""

    values: Mapping[str, Any]
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """What could not be taken in, and why; `line` counts from 1, None where the source has no lines."""

    path: Path
    line: int | None
    why: str


Record: TypeAlias = Session | Message | Usage | Retracted | Document | Skipped


class Parser(Protocol):
    """The shape of a parser module; see above."""

    NAME: str
    roots: Callable[[Mapping[str, str], Path], list[Path]]
    find: Callable[[Path], Iterator[Path]]
    detect: Callable[[Path, bytes], bool]
    read: Callable[[Source], Iterator[Record]]
