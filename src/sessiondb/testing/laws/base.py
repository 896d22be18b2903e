"""What all groups of laws share: names of types, and short ways to say things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from ...db import SessionDB
from ...models import SessionRow
from ...provider import SessionDBProvider

Options: TypeAlias = dict[str, Any]
NewStore: TypeAlias = Callable[[], Options]
OpenProvider: TypeAlias = Callable[..., SessionDBProvider]
NewSession: TypeAlias = Callable[..., str]

DAY = 86_400.0


class LawBase:
    """A group of laws; its fixtures come from the provider's own test class, see `Laws`."""

    provider: ClassVar[type[SessionDBProvider]]


def say(db: SessionDB, session_id: str, *texts: Any, role: str = "user") -> list[int]:
    return db.append_messages(session_id, [{"role": role, "content": text} for text in texts])


def contents(db: SessionDB, session_id: str, **paging: Any) -> list[Any]:
    return [row["content"] for row in db.get_messages(session_id, **paging)]


def positions(db: SessionDB, session_id: str, **paging: Any) -> list[int | None]:
    return [row["seq"] for row in db.get_messages(session_id, **paging)]


def stored(db: SessionDB, session_id: str) -> SessionRow:
    row = db.get_session(session_id)
    assert row is not None, f"session {session_id!r} should be there"
    return row


def listed(db: SessionDB, **wishes: Any) -> list[str]:
    return [row["id"] for row in db.list_sessions_rich(**wishes)]


def titled(db: SessionDB, session_id: str, title: str, **fields: Any) -> str:
    db.create_session(session_id, "cli", **fields)
    db.set_session_title(session_id, title)
    return session_id


def deleted(db: SessionDB) -> list[str]:
    return [row["id"] for row in db.list_trash()]
