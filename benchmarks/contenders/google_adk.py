"""google-adk: SqliteSessionService, an event per message; its calls are awaited on one event loop."""

from __future__ import annotations

import asyncio
from typing import Any

from google.adk.events import Event  # type: ignore[import-not-found]
from google.adk.sessions.sqlite_session_service import SqliteSessionService  # type: ignore[import-not-found]
from google.genai.types import Content, Part  # type: ignore[import-not-found]

from ..worker import SYNCHRONOUS, serve
from .library import Library

OWNER = {"app_name": "bench", "user_id": "somebody"}
COUNT = "SELECT count(*) FROM events"


class ADK(Library):
    def connect(self, path: str) -> None:
        self._runner = asyncio.Runner()
        self._service = SqliteSessionService(path)
        self._sessions: dict[str, Any] = {}

    def begin(self, name: str) -> None:
        self._sessions[name] = self._runner.run(self._service.create_session(session_id=name, **OWNER))

    def shaped(self, row: dict[str, Any]) -> Any:
        parts = [Part(text=row["content"])]
        for call in row.get("tool_calls", ()):
            function = call["function"]
            parts.append(Part.from_function_call(name=function["name"], args={"arguments": function["arguments"]}))
        role = "user" if row["role"] == "user" else "model"
        return Event(author=row["role"], invocation_id="bench", content=Content(role=role, parts=parts))

    def append(self, name: str, message: Any) -> None:
        self._runner.run(self._service.append_event(self._sessions[name], message))

    def load(self, name: str) -> Any:
        return self._runner.run(self._service.get_session(session_id=name, **OWNER))

    def latest(self) -> Any:
        return self._runner.run(self._service.list_sessions(**OWNER))

    async def _asked(self, sql: str) -> Any:
        async with self._service._get_db_connection() as connection:
            return (await connection.execute_fetchall(sql))[0][0]

    def stored(self) -> int:
        return int(self._runner.run(self._asked(COUNT)))

    def settings(self) -> dict[str, str]:
        level = self._runner.run(self._asked("PRAGMA synchronous"))
        return {"synchronous": SYNCHRONOUS[level], "journal": self._runner.run(self._asked("PRAGMA journal_mode"))}

    def close(self) -> None:
        self._runner.run(self._service.close())
        self._runner.close()


if __name__ == "__main__":
    serve(ADK())
