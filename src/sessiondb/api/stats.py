"""Numbers and small facts about the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..drafts import check_filter, check_id, check_number, check_text
from ..models import Filter, SessionRow
from .handle import Handle

if TYPE_CHECKING:
    from ..verify import Report, Tick


class Stats(Handle):
    def usage_by_model(self, *, where: Filter | None = None) -> list[dict[str, Any]]:
        """Sessions, tokens and costs per model, dearest first; a cost nobody reported is None, not 0."""
        return self.provider.usage_by_model(check_filter(where))

    def top_sessions_by_tokens(self, limit: int = 10, *, where: Filter | None = None) -> list[SessionRow]:
        check_number(limit, "limit")
        return self.provider.top_sessions_by_tokens(check_filter(where), limit)

    def stats(self) -> dict[str, Any]:
        """How many sessions and messages, by source, and the size on disk."""
        return self.provider.stats()

    def get_meta(self, key: str) -> str | None:
        check_text(key, "key")
        return self.provider.get_meta(key)

    def set_meta(self, key: str, value: str | None) -> None:
        """Keep a small text under a key; None removes it."""
        check_id(key, "key")
        check_text(value, "value")
        self.provider.set_meta(key, value)

    def verify(self, session_id: str | None = None, *, tick: Tick | None = None) -> Report:
        """Recompute every position and ledger; the report names session and position of what does not fit."""
        check_text(session_id, "session_id")
        from ..verify import verify

        return verify(self.provider, session_id, tick)
