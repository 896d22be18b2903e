"""What all groups of laws share: a fresh store, a clock, short ways to say things."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, ClassVar, TypeAlias

import pytest

from ...db import SessionDB
from ...models import SessionRow
from ...provider import SessionDBProvider
from ..clock import FakeClock
from ..requires import leave_out_what_does_not_apply

Options: TypeAlias = dict[str, Any]
NewStore: TypeAlias = Callable[[], Options]
OpenProvider: TypeAlias = Callable[..., SessionDBProvider]
NewSession: TypeAlias = Callable[..., str]

DAY = 86_400.0


class LawBase:
    """Subclasses name the provider and say where an empty store is."""

    provider: ClassVar[type[SessionDBProvider]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if hasattr(cls, "provider"):
            leave_out_what_does_not_apply(cls, cls.provider.features)

    @pytest.fixture
    def new_store(self) -> NewStore:
        """Options of `initialize` for an empty store, another one at every call."""
        return dict

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def open_provider(self) -> Iterator[OpenProvider]:
        with ExitStack() as opened:

            def open_one(**options: Any) -> SessionDBProvider:
                provider = self.provider()
                provider.initialize(**options)
                opened.callback(provider.shutdown)
                return provider

            yield open_one

    @pytest.fixture
    def db(self, open_provider: OpenProvider, new_store: NewStore, clock: FakeClock) -> Iterator[SessionDB]:
        with SessionDB(provider=open_provider(**new_store()), clock=clock) as db:
            yield db

    @pytest.fixture
    def other_db(self, open_provider: OpenProvider, new_store: NewStore, clock: FakeClock) -> Iterator[SessionDB]:
        """A second, empty store."""
        with SessionDB(provider=open_provider(**new_store()), clock=clock) as db:
            yield db

    @pytest.fixture
    def session(self, db: SessionDB) -> NewSession:
        def create(session_id: str = "s", source: str = "cli", **fields: Any) -> str:
            return db.create_session(session_id, source, **fields)

        return create


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
