"""Lists and searches on a standby, when it has seen what this handle wrote; else on the primary.

After a write the primary tells the position of its log, and a read goes to the standby once that has replayed it. A
standby that does not answer is left alone for a while. Everything but lists and searches is read on the primary.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from ... import errors

if TYPE_CHECKING:
    from ...sql.driver import Tx
    from .engine import Engine
    from .pool import Options

logger = logging.getLogger(__name__)

R = TypeVar("R")
Kind = TypeVar("Kind", bound=type)

ON_REPLICA = (
    "list_sessions", "count_sessions", "search", "candidates", "search_text", "search_titles", "near_words",
    "surroundings", "found_messages", "usage_by_model", "top_sessions_by_tokens", "session_facts", "activity",
    "tool_usage",
)  # fmt: skip
# A standby that is gone must not make every list wait.
PATIENCE_SECONDS = 2.0
REST_SECONDS = 10.0

WRITTEN = """
    SELECT CAST(pg_current_wal_lsn() AS TEXT)
"""
# A standby that was promoted has everything.
REPLAYED = """
    SELECT NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= CAST(:position AS pg_lsn)
"""
LAG = """
    SELECT CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
                ELSE EXTRACT(EPOCH FROM now() - pg_last_xact_replay_timestamp()) END
"""

_wanted: ContextVar[bool] = ContextVar("sessiondb_on_replica", default=False)


def lists_on_replica(kind: Kind) -> Kind:
    """Let the lists and searches of a provider be read where its driver thinks best."""
    for name in ON_REPLICA:
        if hasattr(kind, name):
            setattr(kind, name, _on_replica(getattr(kind, name)))
    return kind


def _on_replica(method: Callable[..., R]) -> Callable[..., R]:
    @wraps(method)
    def read(*args: Any, **kwargs: Any) -> R:
        token = _wanted.set(True)
        try:
            return method(*args, **kwargs)
        finally:
            _wanted.reset(token)

    return read


class Routed:
    """A driver that writes to the primary, and reads where it may."""

    def __init__(self, primary: Engine, options: Options, read_dsn: str) -> None:
        from .engine import Engine
        from .pool import parsed

        self.primary = primary
        patience = min(options.deadline, PATIENCE_SECONDS)
        self.replica = Engine(replace(options, dsn=parsed(read_dsn), read_only=True, deadline=patience), None)
        self.reads = self.fallbacks = 0
        self._lock = threading.Lock()
        # The last write that the standby is known to have replayed, and the position of a later one.
        self._seen: float | None = None
        self._needed: tuple[float, str] | None = None
        self._rests_until = 0.0
        # Why the standby is not read, while it is not.
        self._problem: str | None = None

    def read(self, work: Callable[[Tx], R]) -> R:
        return self._where_it_may(lambda engine: engine.read(work))

    def look(self, work: Callable[[Tx], R]) -> R:
        return self._where_it_may(lambda engine: engine.look(work))

    def _where_it_may(self, ask: Callable[[Engine], R]) -> R:
        if not _wanted.get():
            return ask(self.primary)
        if time.monotonic() >= self._rests_until:
            try:
                if self._has_seen_our_writes():
                    answer = ask(self.replica)
                    self.reads += 1
                    self._problem = None
                    return answer
            except (errors.Unavailable, errors.SchemaError) as exc:
                if not _took_too_long(exc):
                    self._rests_until = time.monotonic() + REST_SECONDS
                    self._tell(str(exc))
        self.fallbacks += 1
        return ask(self.primary)

    def _tell(self, problem: str) -> None:
        """Once for each reason: all goes on without the standby, only slower."""
        if problem != self._problem:
            logger.warning("sessiondb: read_dsn cannot be used, the primary is read instead: %s", problem)
        self._problem = problem

    def write(self, work: Callable[[Tx], R]) -> R:
        return self.primary.write(work)

    def _has_seen_our_writes(self) -> bool:
        last = self.primary.last_commit
        if last == self._seen:
            return True
        position = self._position_of(last)
        found = self.replica.look(lambda tx: tx.row(REPLAYED, {"position": position}))
        if found is None or not found[0]:
            return False
        self._seen = last
        return True

    def _position_of(self, last: float | None) -> str:
        """Where the primary's log was after our last write; asked once for it."""
        with self._lock:
            if self._needed is None or self._needed[0] != last:
                found = self.primary.look(lambda tx: tx.row(WRITTEN))
                self._needed = (last or 0.0, str(found[0]) if found else "0/0")
            return self._needed[1]

    def facts(self) -> dict[str, Any]:
        try:
            found = self.replica.look(lambda tx: tx.row(LAG))
            lag = None if found is None or found[0] is None else float(found[0])
        except errors.Unavailable:
            lag = None
        counted = {"replica_reads": self.reads, "replica_fallbacks": self.fallbacks}
        return {"replica_lag": lag, **counted, "replica_problem": self._problem}

    def close(self) -> None:
        self.replica.close()


def _took_too_long(exc: errors.SessionDBError) -> bool:
    """Whether a statement was given no more time, which says nothing about the server."""
    from psycopg.errors import QueryCanceled

    return isinstance(exc.__cause__, QueryCanceled)
