"""Whatever is called in whatever order, a provider answers as memory does."""

from __future__ import annotations

from ..machine import compare_with_memory
from .base import LawBase, NewStore


class OracleLaws(LawBase):
    def test_any_sequence_of_calls_gives_what_memory_gives(self, new_store: NewStore) -> None:
        compare_with_memory(self.provider, new_store)
