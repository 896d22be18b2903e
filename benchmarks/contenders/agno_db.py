"""agno: SqliteDb; as its agent does, the session is upserted, then the run that holds the message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agno.db.base import SessionType  # type: ignore[import-not-found]
from agno.db.sqlite import SqliteDb  # type: ignore[import-not-found]
from agno.models.message import Message  # type: ignore[import-not-found]
from agno.run.agent import RunOutput  # type: ignore[import-not-found]
from agno.session import AgentSession  # type: ignore[import-not-found]
from sqlalchemy import text  # type: ignore[import-not-found]

from ..worker import serve
from ..works import LISTED
from .library import Library, Told, as_set, fold_in

AGENT = "bench"
KNOWN = ("role", "content", "tool_calls", "tool_call_id", "tool_name")


class Agno(Library):
    def connect(self, path: str) -> None:
        self._db = SqliteDb(db_file=path)
        self._sessions: dict[str, Any] = {}
        self._made = 0

    def begin(self, name: str) -> None:
        self._sessions[name] = AgentSession(session_id=name, agent_id=AGENT, runs=[])
        self._db.upsert_session(self._sessions[name])

    def shaped(self, row: dict[str, Any]) -> Any:
        return Message(**{key: row[key] for key in KNOWN if key in row})

    def _run(self, name: str, messages: list[Any]) -> Any:
        self._made += 1
        return RunOutput(run_id=f"{name}-{self._made}", session_id=name, agent_id=AGENT, messages=messages)

    def append(self, name: str, message: Any) -> None:
        session = self._sessions[name]
        run = self._run(name, [message])
        session.upsert_run(run)
        self._db.upsert_session(session)
        self._db.upsert_run(run, session_id=name, run_index=len(session.runs) - 1)

    def take_in(self, conversations: Sequence[Told]) -> None:
        """A run for each conversation, sessions in bulk."""
        sessions = [AgentSession(session_id=name, agent_id=AGENT, runs=[]) for name, _ in conversations]
        self._db.upsert_sessions(sessions)
        for name, messages in conversations:
            self._db.upsert_run(self._run(name, messages), session_id=name, run_index=0)

    def load(self, name: str) -> Any:
        return self._db.get_session(session_id=name, session_type=SessionType.AGENT).get_messages()

    def latest(self) -> Any:
        wishes = {"limit": LISTED, "page": 1, "sort_by": "updated_at", "sort_order": "desc"}
        return self._db.get_sessions(session_type=SessionType.AGENT, **wishes)

    def _asked(self, ask: Any) -> Any:
        with self._db.db_engine.connect() as connection:
            return ask(connection.connection.driver_connection)

    def stored(self) -> int:
        with self._db.db_engine.connect() as connection:
            names = [row[0] for row in connection.execute(text("SELECT session_id FROM agno_sessions"))]
        return sum(len(self.load(name)) for name in names)

    def settings(self) -> dict[str, str]:
        answer: dict[str, str] = self._asked(as_set)
        return answer

    def settle(self) -> None:
        self._asked(fold_in)

    def close(self) -> None:
        self._db.db_engine.dispose()


if __name__ == "__main__":
    serve(Agno())
