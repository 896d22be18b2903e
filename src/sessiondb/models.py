"""What callers see and what providers exchange: typed rows, filters, pages; no I/O.

Rows are plain dicts. The column tuples are the one list of names that the SQL core, the memory provider, the trash
and the exports share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from .values import NamedTuple, dataclass, field

if TYPE_CHECKING:
    from .shapes import ContextLine as ContextLine
    from .shapes import ImportFileRow as ImportFileRow
    from .shapes import ListedSession as ListedSession
    from .shapes import MediaRefRow as MediaRefRow
    from .shapes import MessageRow as MessageRow
    from .shapes import SearchHit as SearchHit
    from .shapes import SessionRow as SessionRow
    from .shapes import ToolCallRow as ToolCallRow
else:
    # At run time a row is a dict; see shapes.py.
    SessionRow = ListedSession = MessageRow = SearchHit = ContextLine = ToolCallRow = MediaRefRow = dict
    ImportFileRow = dict

Order = Literal["started", "activity"]
SearchOrder = Literal["relevance", "newest", "oldest"]
TextMode = Literal["substring", "fuzzy", "regex"]

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
# What there is to count about a session; its long texts are left out.
SESSION_FACTS = tuple(
    name for name in SESSION_COLUMNS if name not in ("model_config", "system_prompt", "metadata", "ledger")
)

TOOL_CALL_COLUMNS = (
    "id", "session_id", "message_id", "call_id", "tool_name", "arguments",
    "result_summary", "status", "created_at", "completed_at",
)  # fmt: skip
MEDIA_REF_COLUMNS = ("id", "session_id", "message_id", "kind", "path", "mime_type", "sha256", "size", "metadata")
IMPORT_FILE_COLUMNS = ("path", "inode", "size", "mtime", "read_offset", "head_hash", "origin", "state")


class Draft:
    """A message ready to be stored: `values` has every column but the id, and leaves its place to the store.

    `seq` is set only by imports, which keep the positions of the original. `is_ascii`: no value needs a look at its
    characters before it is stored; False when that is not known.
    """

    # One is made for every message: spelled out, because generic methods take longer than the checks.
    __slots__ = ("active", "calls", "digest", "is_ascii", "media", "seq", "values")
    __match_args__ = ("values", "digest", "calls", "media", "seq", "active")

    def __init__(
        self,
        values: dict[str, Any],
        digest: int,
        calls: Sequence[dict[str, Any]] = (),
        media: Sequence[dict[str, Any]] = (),
        seq: int | None = None,
        active: int = 1,
        is_ascii: bool = False,
    ) -> None:
        self.values, self.digest, self.calls, self.media, self.seq, self.active, self.is_ascii = (
            values, digest, calls, media, seq, active, is_ascii,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Merged:
    """What merging messages did."""

    added: int
    changed: int


@dataclass(frozen=True, slots=True)
class Filter:
    """Which sessions; every field that is set must hold. Serves list, count, search, prune and export alike."""

    ids: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    exclude_sources: Sequence[str] = ()
    user_id: str | None = None
    chat_id: str | None = None
    session_key: str | None = None
    session_key_prefix: str | None = None
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
class Activity:
    """How many messages of a role (and tool) were written in the step of time that begins at `since`."""

    since: float
    role: str
    tool_name: str | None
    messages: int


class Match(NamedTuple):
    """A provider's answer for one found message."""

    message: MessageRow
    score: float


@dataclass(frozen=True, slots=True)
class Matches:
    """A page of matches, with what is known about the rest."""

    hits: Sequence[Match]
    # Counted where that is cheap, else estimated.
    total: int
    # How many messages the index had not read yet; they were read one by one.
    index_lag: int = 0
    notices: Sequence[str] = field(default_factory=tuple)


class Surroundings(NamedTuple):
    """The session of a message (at least source, model, title, started_at), and its visible neighbours there."""

    session: SessionRow
    before: ContextLine | None
    after: ContextLine | None


class SearchResults(list["SearchHit"]):
    """A page of hits; a list, with what is known about the search as a whole."""

    def __init__(
        self, hits: Iterable[SearchHit], found: Matches, suggestion: Callable[[], str | None] = lambda: None
    ) -> None:
        super().__init__(hits)
        self.total = found.total
        self.index_lag = found.index_lag
        self.notices = tuple(found.notices)
        self._suggestion = suggestion

    @cached_property
    def did_you_mean(self) -> str | None:
        """When nothing was found: the query with words that messages have. Looked for when asked."""
        return None if self.total else self._suggestion()
