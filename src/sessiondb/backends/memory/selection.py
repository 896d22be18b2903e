"""Which sessions and messages a filter means, and in which order they come; pure."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import TypeVar

from ...models import Filter, MessageFilter, Order, Page
from .tables import Row, Session, Tables, by_start

T = TypeVar("T")

EQUAL = ("user_id", "chat_id", "session_key", "model")
# Databases disagree about the other letters.
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def select(tables: Tables, where: Filter) -> list[Session]:
    continued = _continued(tables) if where.tips else set()
    return [each for each in tables.sessions.values() if each.id not in continued and _matches(each, where)]


def wanted(message: Row, where: MessageFilter) -> bool:
    return (
        (not where.roles or message["role"] in where.roles)
        and _within(message["timestamp"], where.since, where.until)
        and (where.include_inactive or bool(message["active"]))
    )


def newest_first(sessions: list[Session], order: Order = "started") -> list[Session]:
    return sorted(sessions, key=_by_activity if order == "activity" else by_start, reverse=True)


def cut(rows: Sequence[T], page: Page) -> Sequence[T]:
    return rows[page.offset :][: page.limit]


def last_active(values: Row) -> float:
    """When something last happened: a session without messages was active when it started."""
    active: float | None = values["last_active"]
    return values["started_at"] if active is None else active


def _by_activity(session: Session) -> tuple[int, float, str]:
    return session.values["last_message_id"] or 0, *by_start(session)


def _continued(tables: Tables) -> set[str]:
    values = (each.values for each in tables.sessions.values())
    return {row["parent_session_id"] for row in values if row["relation"] == "compression"}


def _matches(session: Session, where: Filter) -> bool:
    values = session.values
    return (
        _listed(values, where)
        and all(getattr(where, name) in (None, values[name]) for name in EQUAL)
        and _begins(values["session_key"], where.session_key_prefix)
        and session.tags.issuperset(where.tags)
        and _below(values["cwd"], where.cwd)
        and _contains(values["title"], where.title_contains)
        and _within(values["started_at"], where.started_since, where.started_before)
        and _within(last_active(values), where.active_since, where.active_until)
        and _in_state(values, where)
        and _in_lineage(values, where)
    )


def _listed(values: Row, where: Filter) -> bool:
    return (
        (where.ids is None or values["id"] in where.ids)
        and (where.sources is None or values["source"] in where.sources)
        and values["source"] not in where.exclude_sources
    )


def _in_state(values: Row, where: Filter) -> bool:
    wishes = {"ended_at": where.ended, "archived_at": where.archived, "pinned_at": where.pinned}
    return all(wish in (None, values[column] is not None) for column, wish in wishes.items())


def _in_lineage(values: Row, where: Filter) -> bool:
    if where.children or values["relation"] not in ("subagent", "compression"):
        return True
    return where.tips and values["relation"] == "compression"


def _within(time: float, since: float | None, until: float | None) -> bool:
    return (since is None or time >= since) and (until is None or time < until)


def _below(path: str | None, directory: str | None) -> bool:
    if directory is None:
        return True
    return path is not None and (path == directory or path.startswith(directory.rstrip("/") + "/"))


def _begins(key: str | None, prefix: str | None) -> bool:
    return prefix is None or (key is not None and key.startswith(prefix))


def _contains(title: str | None, part: str | None) -> bool:
    if part is None:
        return True
    return title is not None and part.translate(_ASCII_LOWER) in title.translate(_ASCII_LOWER)
