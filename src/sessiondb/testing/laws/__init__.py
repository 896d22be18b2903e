"""The laws by noun, and `Laws`, which hands them to a provider."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, ClassVar

import pytest

from ...db import SessionDB
from ...provider import SessionDBProvider
from ..clock import FakeClock
from ..requires import leave_out_what_does_not_apply
from .appending import BatchLaws, ExpectationLaws, KeyLaws
from .base import LawBase, NewSession, NewStore, OpenProvider
from .bindings import BindingLaws, HandoverLaws, NoBindingLaws
from .closed import ClosedLaws
from .exact import ExactLaws
from .facts import HealthLaws, InsightLaws, MetaLaws, StatsLaws
from .input import ErrorLaws, MessageInputLaws, NameInputLaws, PageInputLaws, SessionInputLaws, UsageInputLaws
from .large import LargeTextLaws
from .ledger import LedgerLaws, TamperLaws
from .life import LifeLaws
from .lineage import FamilyLaws, RelationLaws, RotationLaws, TipLaws
from .listing import ChildrenLaws, FilterLaws, OrderLaws, PreviewLaws
from .merging import ImportFileLaws, MergeLaws, NativeLaws
from .messages import CounterLaws, MessageLaws, PageLaws
from .moving import CatalogueLaws, LoadLaws
from .oracle import OracleLaws
from .revision import RevisionLaws
from .rewriting import ClearLaws, ForkLaws, ReplaceLaws, RewindLaws
from .search import HitLaws, KindLaws, NarrowLaws, SearchOrderLaws, WordLaws
from .sessions import ChangeLaws, CountLaws, EndLaws, ResolveLaws, SessionLaws
from .tags import ShelfLaws, TagLaws
from .text import TextLaws
from .threads import ThreadLaws
from .titles import AutoTitleLaws, TitleLaws, TitleLookupLaws, TitleNumberLaws
from .tools import ConversationLaws, MediaLaws, ToolCallLaws
from .transfer import ExportLaws, ImportLaws
from .trash import DeleteLaws, EmptyTrashLaws, PruneLaws, RelinkLaws, RestoreLaws
from .usage import ModelUsageLaws, UsageLaws

__all__ = ["GROUPS", "Laws", "TamperLaws"]

GROUPS: tuple[type[LawBase], ...] = (
    SessionLaws, EndLaws, ChangeLaws, ResolveLaws, CountLaws, TagLaws, ShelfLaws,
    TitleLaws, TitleLookupLaws, TitleNumberLaws, AutoTitleLaws,
    MessageLaws, CounterLaws, PageLaws, BatchLaws, KeyLaws, ExpectationLaws, ExactLaws,
    ReplaceLaws, ClearLaws, RewindLaws, ForkLaws,
    MergeLaws, NativeLaws, ImportFileLaws, RevisionLaws, LargeTextLaws,
    ToolCallLaws, MediaLaws, ConversationLaws, UsageLaws, ModelUsageLaws,
    FamilyLaws, RelationLaws, RotationLaws, TipLaws,
    OrderLaws, PreviewLaws, ChildrenLaws, FilterLaws,
    DeleteLaws, RestoreLaws, RelinkLaws, EmptyTrashLaws, PruneLaws, ExportLaws, ImportLaws,
    CatalogueLaws, LoadLaws,
    WordLaws, HitLaws, KindLaws, NarrowLaws, SearchOrderLaws, TextLaws,
    NameInputLaws, SessionInputLaws, UsageInputLaws, MessageInputLaws, PageInputLaws, ErrorLaws, ClosedLaws,
    BindingLaws, HandoverLaws, NoBindingLaws,
    LedgerLaws, MetaLaws, StatsLaws, InsightLaws, HealthLaws, ThreadLaws, LifeLaws, OracleLaws,
)  # fmt: skip


class Laws:
    """Every group of laws as a nested test class, for the provider that a subclass names.

    A fixture `tamper` in the subclass adds the laws about damage.
    """

    provider: ClassVar[type[SessionDBProvider]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        groups = (*GROUPS, TamperLaws) if hasattr(cls, "tamper") else GROUPS
        for group in groups if hasattr(cls, "provider") else ():
            laws = type(f"Test{group.__name__}", (group,), {"provider": cls.provider, "__module__": cls.__module__})
            leave_out_what_does_not_apply(laws, cls.provider.features)
            setattr(cls, laws.__name__, laws)

    @pytest.fixture
    def new_store(self) -> NewStore:
        """Gives the options of `initialize` for an empty store, another one at every call."""
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
