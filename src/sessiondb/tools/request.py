"""What a model asks of `session_search`, checked; models send numbers as text and lists as text with commas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..drafts import check_time
from ..errors import Invalid
from ..models import ROLES, Filter, MessageFilter
from ..search.filters import KINDS, resolve_time

SORTS = ("relevance", "newest", "oldest")
DEFAULT_LIMIT, MAX_LIMIT = 3, 10
DEFAULT_WINDOW, MAX_WINDOW = 5, 20
DEFAULT_CHARACTERS, LEAST_CHARACTERS, MOST_CHARACTERS = 24_000, 2_000, 400_000


@dataclass(frozen=True, slots=True)
class Request:
    """Which mode is meant follows from what is set; see `session_search`."""

    query: str = ""
    session_id: str | None = None
    around_message_id: int | None = None
    window: int = DEFAULT_WINDOW
    limit: int = DEFAULT_LIMIT
    sort: str = SORTS[0]
    roles: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    kind: str | None = None
    summarize: bool = False
    max_chars: int = DEFAULT_CHARACTERS

    @property
    def sessions(self) -> Filter:
        return Filter(sources=self.sources or None, tags=self.tags)

    @property
    def messages(self) -> MessageFilter:
        return MessageFilter(self.roles, self.since, self.until)

    @property
    def box(self) -> str:
        """The query as the search box takes it."""
        return f"{self.query} kind:{self.kind}".strip() if self.kind else self.query


def understood(arguments: Mapping[str, Any], now: float) -> Request:
    """The request that the arguments mean. Raises Invalid, naming the argument and what it takes."""
    given = {name: value for name, value in arguments.items() if value is not None and value != ""}
    unknown = sorted(given.keys() - _READERS.keys())
    if unknown:
        raise Invalid(f"unknown argument {unknown[0]!r}; known: {', '.join(sorted(_READERS))}")
    read = {_FIELDS.get(name, name): _READERS[name](name, value, now) for name, value in given.items()}
    if "around_message_id" in read and "session_id" not in read:
        raise Invalid("around_message_id needs session_id: the session that the message is in")
    return Request(**read)


def _text(name: str, value: Any, now: float) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{name} must be text, not {type(value).__name__}")
    return value.strip()


def _texts(name: str, value: Any, now: float) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Sequence) or not all(isinstance(part, str) for part in parts):
        raise Invalid(f"{name} must be a list of texts, not {value!r}")
    return tuple(part.strip() for part in parts if part.strip())


def _roles(name: str, value: Any, now: float) -> tuple[str, ...]:
    roles = _texts(name, value, now)
    unknown = [role for role in roles if role not in ROLES]
    if unknown:
        raise Invalid(f"{name} has no role {unknown[0]!r}; use {', '.join(sorted(ROLES))}")
    return roles


def _whole(name: str, value: Any) -> int:
    try:
        return int(str(value).strip())
    except ValueError:
        raise Invalid(f"{name} must be a whole number, not {value!r}") from None


def _between(least: int, most: int) -> Any:
    """A number that is moved into its bounds: a model that asks for too much gets what there may be."""
    return lambda name, value, now: max(least, min(most, _whole(name, value)))


def _one_of(*choices: str) -> Any:
    def read(name: str, value: Any, now: float) -> str:
        if value not in choices:
            raise Invalid(f"{name} must be one of {', '.join(choices)}, not {value!r}")
        return str(value)

    return read


def _moment(name: str, value: Any, now: float) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return check_time(value, name)
    moment = resolve_time(str(value), now, end=name == "until")
    if moment is None:
        raise Invalid(f"{name} takes an ISO date or time, 24h, 7d, 2w, today or yesterday, not {value!r}")
    return moment


def _yes_or_no(name: str, value: Any, now: float) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if str(value).lower() not in words:
        raise Invalid(f"{name} must be true or false, not {value!r}")
    return words[str(value).lower()]


_FIELDS = {"role_filter": "roles", "source": "sources"}
_READERS: dict[str, Any] = {
    "query": _text,
    "session_id": _text,
    "around_message_id": lambda name, value, now: _whole(name, value),
    "window": _between(0, MAX_WINDOW),
    "limit": _between(1, MAX_LIMIT),
    "sort": _one_of(*SORTS),
    "role_filter": _roles,
    "source": _texts,
    "tags": _texts,
    "since": _moment,
    "until": _moment,
    "kind": _one_of(*KINDS),
    "summarize": _yes_or_no,
    "max_chars": _between(LEAST_CHARACTERS, MOST_CHARACTERS),
}
