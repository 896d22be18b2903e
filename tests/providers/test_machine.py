"""The machine can fail: it finds providers that differ from memory in one small thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import Phase, settings

from sessiondb.backends.memory import MemoryProvider
from sessiondb.models import Draft, Filter, ListedSession, Order, Page
from sessiondb.testing import compare_with_memory
from sessiondb.testing.machine import SETTINGS

# What is generated depends on the modules that are loaded: each gets several times as long as it needs.
QUICK = settings(SETTINGS, phases=[Phase.generate], max_examples=10 * SETTINGS.max_examples)


class KeepsWhatIsCleared(MemoryProvider):
    def clear_messages(self, session_id: str) -> None:
        self.get_session(session_id)


class IgnoresExpectations(MemoryProvider):
    def append(self, session_id: str, messages: Sequence[Draft], *, expected_seq: int | None = None) -> list[int]:
        return super().append(session_id, messages)


class ForgetsParents(MemoryProvider):
    def create_session(
        self, row: Mapping[str, Any], messages: Sequence[Draft] = (), *, tags: Sequence[str] = ()
    ) -> bool:
        return super().create_session({**row, "parent_session_id": None}, messages, tags=tags)


class DeletesForGood(MemoryProvider):
    def delete_sessions(self, where: Filter, *, deleted_at: float, hard: bool = False) -> list[str]:
        return super().delete_sessions(where, deleted_at=deleted_at, hard=True)


class ListsByStartOnly(MemoryProvider):
    def list_sessions(self, where: Filter, page: Page, order: Order) -> list[ListedSession]:
        return super().list_sessions(where, page, "started")


class LosesTheLastOfThree(MemoryProvider):
    def append(self, session_id: str, messages: Sequence[Draft], *, expected_seq: int | None = None) -> list[int]:
        ids = super().append(session_id, messages[:2], expected_seq=expected_seq)
        return ids + ids[-1:] * (len(messages) - len(ids))


class SpendsCostsOfNobody(MemoryProvider):
    def add_usage(
        self, session_id: str, amounts: Mapping[str, Any], facts: Mapping[str, Any], *, absolute: bool
    ) -> bool:
        return super().add_usage(
            session_id, {key: value or 0 for key, value in amounts.items()}, facts, absolute=absolute
        )


@pytest.mark.parametrize(
    "mutant",
    [
        KeepsWhatIsCleared,
        IgnoresExpectations,
        ForgetsParents,
        DeletesForGood,
        ListsByStartOnly,
        LosesTheLastOfThree,
        SpendsCostsOfNobody,
    ],
)
def test_a_provider_that_differs_is_found(mutant: type[MemoryProvider]) -> None:
    with pytest.raises((AssertionError, ExceptionGroup)):
        compare_with_memory(mutant, dict, QUICK)


def test_memory_agrees_with_itself() -> None:
    compare_with_memory(MemoryProvider, dict, SETTINGS)
