"""Sums, sizes, health and the small values beside the sessions."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from typing import Any

from ...models import TOKEN_COLUMNS, Filter, SessionRow
from ...rows import session_row
from .selection import select
from .tables import MemoryBase, Row, Session, by_start, read, write

SCHEMA_VERSION = 1002
COSTS = ("estimated_cost_usd", "actual_cost_usd")


class Facts(MemoryBase):
    @read
    def health(self) -> dict[str, Any]:
        last_write = self.tables.last_write
        return {
            "provider": self.name,
            "status": "ok",
            "schema_version": SCHEMA_VERSION,
            "sessions": len(self.tables.sessions),
            "messages": self.count_messages(),
            "last_commit_age": None if last_write is None else time.monotonic() - last_write,
        }

    @read
    def usage_by_model(self, where: Filter) -> list[dict[str, Any]]:
        rows: defaultdict[str, list[Row]] = defaultdict(list)
        for session in select(self.tables, where):
            if session.values["model"] is not None:
                rows[session.values["model"]].append(session.values)
        return sorted((_usage(model, group) for model, group in rows.items()), key=_dearest_first)

    @read
    def top_sessions_by_tokens(self, where: Filter, limit: int) -> list[SessionRow]:
        found = sorted(select(self.tables, where), key=_by_tokens, reverse=True)
        return [session_row(dict(session.values)) for session in found[:limit]]

    @read
    def stats(self) -> dict[str, Any]:
        sessions = self.tables.sessions
        sources = Counter(session.values["source"] for session in sessions.values())
        return {
            "sessions": len(sessions),
            "messages": self.count_messages(),
            "sources": dict(sorted(sources.items(), key=lambda counted: (-counted[1], counted[0]))),
            "size_bytes": 0,
            "index_bytes": 0,
            "large_texts": None,
        }

    @read
    def get_meta(self, key: str) -> str | None:
        return self.tables.meta.get(key)

    @write
    def set_meta(self, key: str, value: str | None) -> None:
        if value is None:
            self.tables.meta.pop(key, None)
        else:
            self.tables.meta[key] = value


def _usage(model: str, sessions: list[Row]) -> dict[str, Any]:
    tokens = {column: sum(values[column] for values in sessions) for column in TOKEN_COLUMNS}
    costs = {column: _known_sum([values[column] for values in sessions]) for column in COSTS}
    return {"model": model, "session_count": len(sessions), **tokens, **costs}


def _known_sum(amounts: list[float | None]) -> float | None:
    """The sum of what is known; None when nothing is, for an unknown cost is not 0."""
    known = [amount for amount in amounts if amount is not None]
    return math.fsum(known) if known else None


def _dearest_first(usage: dict[str, Any]) -> tuple[bool, float, int, str]:
    cost = usage["estimated_cost_usd"]
    return cost is None, -(cost or 0.0), -(usage["input_tokens"] + usage["output_tokens"]), usage["model"]


def _by_tokens(session: Session) -> tuple[int, float, str]:
    return session.values["input_tokens"] + session.values["output_tokens"], *by_start(session)
