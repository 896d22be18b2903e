"""openai-agents: SQLiteSession, a session per conversation on one file; its calls are awaited on one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from agents import SQLiteSession  # type: ignore[import-not-found]

from ..worker import serve
from .library import Library, Told, as_set, fold_in


class OpenAIAgents(Library):
    def connect(self, path: str) -> None:
        self._path = path
        self._runner = asyncio.Runner()
        self._sessions: dict[str, Any] = {}
        self.begin("settings")

    def begin(self, name: str) -> None:
        if name not in self._sessions:
            self._sessions[name] = SQLiteSession(name, self._path)

    def shaped(self, row: dict[str, Any]) -> Any:
        return row

    def append(self, name: str, message: Any) -> None:
        self._runner.run(self._sessions[name].add_items([message]))

    def take_in(self, conversations: Sequence[Told]) -> None:
        for name, messages in conversations:
            session = SQLiteSession(name, self._path)
            self._runner.run(session.add_items(messages))
            session.close()

    def load(self, name: str) -> Any:
        self.begin(name)
        return self._runner.run(self._sessions[name].get_items())

    def _connection(self) -> Any:
        return self._sessions["settings"]._get_connection()

    def stored(self) -> int:
        return int(self._connection().execute("SELECT count(*) FROM agent_messages").fetchone()[0])

    def settings(self) -> dict[str, str]:
        return as_set(self._connection())

    def settle(self) -> None:
        fold_in(self._connection())

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._runner.close()


if __name__ == "__main__":
    serve(OpenAIAgents())
