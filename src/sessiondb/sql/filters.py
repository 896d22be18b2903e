"""A `Filter` as conditions on `sessions s`, a `MessageFilter` as conditions on `messages m`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..models import Filter, MessageFilter
from .escape import MARK, escape

_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class Where:
    """Conditions joined by AND, with their parameters."""

    def __init__(self) -> None:
        self.conditions: list[str] = []
        self.params: dict[str, Any] = {}

    def add(self, condition: str, **params: Any) -> None:
        self.conditions.append(condition)
        self.params |= params

    def one_of(self, column: str, name: str, values: Sequence[Any], *, negate: bool = False) -> None:
        names = [f"{name}{number}" for number in range(len(values))]
        if not names:
            self.add("1 = 1" if negate else "1 = 0")
            return
        marks = ", ".join(f":{each}" for each in names)
        self.add(f"{column} {'NOT IN' if negate else 'IN'} ({marks})", **dict(zip(names, values, strict=True)))

    @property
    def sql(self) -> str:
        return " AND ".join(self.conditions) or "1 = 1"


def sessions_where(where: Filter) -> Where:
    out = Where()
    _add_lists(out, where)
    _add_equals(out, where)
    _add_times(out, where)
    _add_states(out, where)
    _add_lineage(out, where)
    return out


def _add_lists(out: Where, where: Filter) -> None:
    if where.ids is not None:
        out.one_of("s.id", "id", where.ids)
    if where.sources is not None:
        out.one_of("s.source", "source", where.sources)
    if where.exclude_sources:
        out.one_of("s.source", "no_source", where.exclude_sources, negate=True)
    for number, tag in enumerate(where.tags):
        name = f"tag{number}"
        out.add(f"s.id IN (SELECT t.session_id FROM tags t WHERE t.tag = :{name})", **{name: tag})


def _add_equals(out: Where, where: Filter) -> None:
    for name in ("user_id", "chat_id", "session_key", "model"):
        value = getattr(where, name)
        if value is not None:
            out.add(f"s.{name} = :{name}", **{name: value})
    if where.session_key_prefix is not None:
        # Not a range: databases order text by their own rules.
        head = "{substr}(s.session_key, 1, {length}(:key_prefix))"
        out.add(f"{head} = :key_prefix", key_prefix=where.session_key_prefix)
    if where.cwd is not None:
        below = where.cwd.rstrip("/") + "/"
        # "0" follows "/": what starts with the directory and a slash lies between the two.
        out.add(
            "(s.cwd = :cwd OR (s.cwd >= :cwd_below AND s.cwd < :cwd_beyond))",
            cwd=where.cwd,
            cwd_below=below,
            cwd_beyond=below[:-1] + "0",
        )
    if where.title_contains is not None:
        part = where.title_contains.translate(_ASCII_LOWER)
        out.add("{position}({ascii_lower}(s.title), :title_part) > 0", title_part=part)


def _add_times(out: Where, where: Filter) -> None:
    if where.started_before is not None:
        out.add("s.started_at < :started_before", started_before=where.started_before)
    if where.started_since is not None:
        out.add("s.started_at >= :started_since", started_since=where.started_since)
    if where.active_since is not None:
        out.add("COALESCE(s.last_active, s.started_at) >= :active_since", active_since=where.active_since)
    if where.active_until is not None:
        out.add("COALESCE(s.last_active, s.started_at) < :active_until", active_until=where.active_until)


def _add_states(out: Where, where: Filter) -> None:
    for column, state in (("ended_at", where.ended), ("archived_at", where.archived), ("pinned_at", where.pinned)):
        if state is not None:
            out.add(f"s.{column} IS {'NOT ' if state else ''}NULL")


_CONTINUED = "(SELECT 1 FROM sessions c WHERE c.parent_session_id = s.id AND c.relation = 'compression')"


def _add_lineage(out: Where, where: Filter) -> None:
    if where.tips:
        out.add(f"NOT EXISTS {_CONTINUED}")
    if not where.children:
        out.add("s.relation <> 'subagent'" if where.tips else "s.relation NOT IN ('subagent', 'compression')")


def messages_where(out: Where, where: MessageFilter) -> None:
    if where.roles:
        out.one_of("m.role", "role", where.roles)
    if where.since is not None:
        out.add("m.timestamp >= :since", since=where.since)
    if where.until is not None:
        out.add("m.timestamp < :until", until=where.until)
    if not where.include_inactive:
        out.add("m.active = 1")


def starts_with(column: str, prefix: str) -> tuple[str, dict[str, str]]:
    """A condition that an index can walk: from the prefix to the first text after all that start with it.

    Where there is no such text the range has no end, and the caller must look at what he gets.
    """
    beyond = _successor(prefix)
    if beyond is None:
        return f"{column} >= :prefix", {"prefix": prefix}
    return f"{column} >= :prefix AND {column} < :beyond", {"prefix": prefix, "beyond": beyond}


def _successor(prefix: str) -> str | None:
    head = prefix.rstrip("\U0010ffff")
    if not head or head[-1] == "\0" or escape(head[-1]) != head[-1]:
        return None
    following = ord(head[-1]) + 1
    if 0xD800 <= following <= 0xDFFF:
        following = 0xE000
    return head[:-1] + chr(following + (chr(following) == MARK))


def marks(name: str, values: Iterable[Any]) -> tuple[str, dict[str, Any]]:
    """(":x0, :x1", {"x0": ..., "x1": ...}) for an IN list."""
    params = {f"{name}{number}": value for number, value in enumerate(values)}
    return ", ".join(f":{each}" for each in params), params
