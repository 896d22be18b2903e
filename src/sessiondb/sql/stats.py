"""Numbers about the store, and its small facts."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ..models import SESSION_COLUMNS, SESSION_FACTS, TOKEN_COLUMNS, Activity, Filter, MessageFilter, SessionRow
from ..provider import SessionDBProvider, activity_order
from . import rows
from .driver import Driver, Tx, read, write
from .escape import unescape
from .filters import messages_where, sessions_where

SOURCES = """
    SELECT source, COUNT(*) AS sessions
      FROM sessions
     GROUP BY source
"""
TOTALS = """
    SELECT COUNT(*), COALESCE(SUM(message_count), 0)
      FROM sessions
"""
GET_META = """
    SELECT value
      FROM meta
     WHERE name = :name
"""
DROP_META = """
    DELETE FROM meta
     WHERE name = :name
"""
ADD_META = """
    INSERT INTO meta (name, value)
    VALUES (:name, :value)
"""
_USAGE_COLUMNS = (*TOKEN_COLUMNS, "estimated_cost_usd", "actual_cost_usd")


class StatPrimitives(SessionDBProvider):
    driver: Driver

    @abstractmethod
    def size_bytes(self) -> int:
        """What the store takes on disk, index included."""

    def index_bytes(self) -> int | None:
        """What of it the search index takes; None where that cannot be told apart."""
        return None

    def large_texts(self) -> dict[str, Any] | None:
        """How many texts over 4 KB are kept once, and what that saves; None where each is kept where it was said."""
        return None

    @read
    def usage_by_model(self, tx: Tx, where: Filter) -> list[dict[str, Any]]:
        chosen = sessions_where(where)
        found = tx.rows(
            f"""
            SELECT s.model, COUNT(*), {", ".join(f"SUM(s.{name})" for name in _USAGE_COLUMNS)}
              FROM sessions s
             WHERE s.model IS NOT NULL
               AND {chosen.sql}
             GROUP BY s.model
            """,
            chosen.params,
        )
        usage = [rows.named(("model", "session_count", *_USAGE_COLUMNS), row) for row in found]
        return sorted(usage, key=_dearest_first)

    @read
    def top_sessions_by_tokens(self, tx: Tx, where: Filter, limit: int) -> list[SessionRow]:
        chosen = sessions_where(where)
        found = tx.rows(
            f"""
            SELECT {rows.prefixed(SESSION_COLUMNS, "s")}
              FROM sessions s
             WHERE {chosen.sql}
             ORDER BY s.input_tokens + s.output_tokens DESC, s.started_at DESC, s.id DESC
             {{page}}
            """,
            chosen.params | {"limit": limit, "offset": 0},
        )
        return rows.sessions(found)

    @read
    def session_facts(self, tx: Tx, where: Filter) -> list[SessionRow]:
        chosen = sessions_where(where)
        found = tx.rows(
            f"""
            SELECT {rows.prefixed(SESSION_FACTS, "s")}
              FROM sessions s
             WHERE {chosen.sql}
             ORDER BY s.started_at DESC, s.id DESC
            """,
            chosen.params,
        )
        facts = [rows.named(SESSION_FACTS, row) for row in found]
        for row in facts:
            row["last_active"] = row["started_at"] if row["last_active"] is None else row["last_active"]
        return facts  # type: ignore[return-value]

    @read
    def activity(self, tx: Tx, where: Filter, messages: MessageFilter, step: float) -> list[Activity]:
        chosen = sessions_where(where)
        messages_where(chosen, messages)
        # CROSS: of the sessions selected, their messages; SQLite would rather read all messages there are.
        found = tx.rows(
            f"""
            SELECT FLOOR(m.timestamp / :step), m.role, m.tool_name, COUNT(*)
              FROM sessions s
             CROSS JOIN messages m
             WHERE m.session_id = s.id
               AND {chosen.sql}
             GROUP BY 1, 2, 3
            """,
            chosen.params | {"step": float(step)},
        )
        counted = (
            Activity(float(place) * step, unescape(role), unescape(tool) if tool is not None else None, count)
            for place, role, tool, count in found
        )
        return sorted(counted, key=activity_order)

    @read
    def tool_usage(self, tx: Tx, where: Filter, since: float | None, until: float | None) -> dict[str, int]:
        chosen = sessions_where(where)
        if since is not None:
            chosen.add("t.created_at >= :called_since", called_since=since)
        if until is not None:
            chosen.add("t.created_at < :called_until", called_until=until)
        found = tx.rows(
            f"""
            SELECT COALESCE(t.tool_name, ''), COUNT(*)
              FROM sessions s
             CROSS JOIN tool_calls t
             WHERE t.session_id = s.id
               AND {chosen.sql}
             GROUP BY 1
            """,
            chosen.params,
        )
        counts = [(unescape(name), count) for name, count in found]
        return dict(sorted(counts, key=lambda counted: (-counted[1], counted[0])))

    def stats(self) -> dict[str, Any]:
        sizes = {"size_bytes": self.size_bytes(), "index_bytes": self.index_bytes()}
        return {**self._totals(), **sizes, "large_texts": self.large_texts()}

    @read
    def _totals(self, tx: Tx) -> dict[str, Any]:
        sessions, messages = tx.row(TOTALS) or (0, 0)
        sources = sorted(
            ((unescape(name), count) for name, count in tx.rows(SOURCES)), key=lambda row: (-row[1], row[0])
        )
        return {"sessions": sessions, "messages": int(messages), "sources": dict(sources)}

    @read
    def get_meta(self, tx: Tx, key: str) -> str | None:
        found = tx.row(GET_META, {"name": key})
        return None if found is None else unescape(found[0])

    @write
    def set_meta(self, tx: Tx, key: str, value: str | None) -> None:
        tx.run(DROP_META, {"name": key})
        if value is not None:
            tx.run(ADD_META, {"name": key, "value": value})


def _dearest_first(row: dict[str, Any]) -> tuple[Any, ...]:
    cost = row["estimated_cost_usd"]
    return (cost is None, -(cost or 0.0), -(row["input_tokens"] + row["output_tokens"]), row["model"])
