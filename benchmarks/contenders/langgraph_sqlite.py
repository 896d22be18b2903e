"""langgraph-checkpoint-sqlite: SqliteSaver; a step of a graph saves the whole state, so an append is a longer state."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint  # type: ignore[import-not-found]
from langgraph.checkpoint.sqlite import SqliteSaver  # type: ignore[import-not-found]

from ..worker import serve
from .library import Library, Told, as_set, fold_in

THREADS = "SELECT DISTINCT thread_id FROM checkpoints"


class LangGraph(Library):
    def connect(self, path: str) -> None:
        # As its from_conn_string does, which is a context manager.
        self._saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))
        self._states: dict[str, list[Any]] = {}
        self._places: dict[str, Any] = {}

    def begin(self, name: str) -> None:
        self._states[name] = []
        self._places[name] = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}

    def shaped(self, row: dict[str, Any]) -> Any:
        return row

    def append(self, name: str, message: Any) -> None:
        self._save(name, [*self._states[name], message])

    def _save(self, name: str, messages: list[Any]) -> None:
        self._states[name] = messages
        checkpoint = {**empty_checkpoint(), "channel_values": {"messages": messages}}
        metadata = {"source": "loop", "step": len(messages), "parents": {}}
        self._places[name] = self._saver.put(self._places[name], checkpoint, metadata, {})

    def take_in(self, conversations: Sequence[Told]) -> None:
        for name, messages in conversations:
            self.begin(name)
            self._save(name, messages)

    def load(self, name: str) -> Any:
        found = self._saver.get_tuple({"configurable": {"thread_id": name, "checkpoint_ns": ""}})
        return found.checkpoint["channel_values"]["messages"]

    def stored(self) -> int:
        return sum(len(self.load(name)) for (name,) in self._saver.conn.execute(THREADS).fetchall())

    def settings(self) -> dict[str, str]:
        self._saver.setup()
        return as_set(self._saver.conn)

    def settle(self) -> None:
        fold_in(self._saver.conn)

    def close(self) -> None:
        self._saver.conn.close()


if __name__ == "__main__":
    serve(LangGraph())
