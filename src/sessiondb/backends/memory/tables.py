"""The rows of the store, and how a primitive gets at them: alone, and only while the store is open."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...bindings import Binding
from ...errors import Closed, NotFound, TitleTaken
from ...provider import SessionDBProvider

Row = dict[str, Any]


@dataclass(slots=True, eq=False)
class Session:
    """A session with all it owns, as stored; messages in order of position."""

    values: Row
    messages: list[Row] = field(default_factory=list)
    tool_calls: list[Row] = field(default_factory=list)
    media_refs: list[Row] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        return str(self.values["id"])


@dataclass(slots=True, eq=False)
class Deleted:
    """A session in the trash, and who was its child when it went."""

    session: Session
    children: list[str]


@dataclass(slots=True, eq=False)
class Tables:
    sessions: dict[str, Session] = field(default_factory=dict)
    trash: list[Deleted] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    bindings: dict[str, Binding] = field(default_factory=dict)
    import_files: dict[str, Row] = field(default_factory=dict)
    last_ids: Counter[str] = field(default_factory=Counter)
    last_write: float | None = None

    def next_id(self, table: str) -> int:
        """A number never used before in that table."""
        self.last_ids[table] += 1
        return self.last_ids[table]

    def session(self, session_id: str) -> Session:
        if session_id not in self.sessions:
            raise NotFound(f"no session {session_id!r}; create it first, or list the sessions to find its id")
        return self.sessions[session_id]

    def check_parent(self, session_id: str | None) -> None:
        if session_id is not None and session_id not in self.sessions:
            raise NotFound(f"no parent session {session_id!r}; create it first, or leave the parent out")

    def children(self, session_id: str) -> list[Session]:
        """Those with this parent, by start; no parent has none."""
        parent = self.sessions.get(session_id)
        found = [each for each in self.sessions.values() if parent and each.values["parent_session_id"] == parent.id]
        return sorted(found, key=by_start)

    def continuation(self, session_id: str) -> Session | None:
        """The session that goes on after a compression of this one."""
        heirs = (child for child in self.children(session_id) if child.values["relation"] == "compression")
        return next(heirs, None)

    def titles(self) -> list[str]:
        return [each.values["title"] for each in self.sessions.values() if each.values["title"] is not None]

    def check_title(self, title: str | None, own_id: str | None = None) -> None:
        """Raise TitleTaken when a session other than `own_id` has the title."""
        if title is None:
            return
        for holder in self.sessions.values():
            if holder.values["title"] == title and holder.id != own_id:
                raise TitleTaken(
                    f"the title {title!r} belongs to session {holder.id}; choose another or rename that one"
                )


def by_start(session: Session) -> tuple[float, str]:
    return session.values["started_at"], session.id


class MemoryBase(SessionDBProvider):
    """Holds the tables, and the lock that makes each primitive one transaction."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._tables: Tables | None = None

    @property
    def tables(self) -> Tables:
        if self._tables is None:
            raise Closed("the store is closed; open it again")
        return self._tables


P = ParamSpec("P")
T = TypeVar("T")
Store = TypeVar("Store", bound=MemoryBase)
Primitive = Callable[Concatenate[Store, P], T]


def read(method: Primitive[Store, P, T]) -> Primitive[Store, P, T]:
    """Run alone."""

    @wraps(method)
    def alone(self: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **kwargs)

    return alone


def write(method: Primitive[Store, P, T]) -> Primitive[Store, P, T]:
    """Run alone, and note when it was done."""

    @wraps(method)
    def alone(self: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            result = method(self, *args, **kwargs)
            self.tables.last_write = time.monotonic()
            return result

    return alone
