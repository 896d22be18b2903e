"""sessiondb through its public API."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import sessiondb
from sessiondb.backends.sqlite import provider as sqlite
from sessiondb.search.recall import rank_messages

from .. import corpus, searches, works
from ..worker import Contender, Operation, serve
from ..works import Work

_INDEXED_AFTER = sqlite.INDEXED_AFTER


class Ours(Contender):
    db: sessiondb.SessionDB

    def __init__(self) -> None:
        # How much the last searches found, by kind.
        self._hits: dict[str, int] = {}

    def fill(self, path: str, sessions: int, messages_each: int) -> None:
        self.db = sessiondb.open(path)
        self._take_in(corpus.documents(works.FILLED, sessions, messages_each))
        self.db.close()

    def _take_in(self, documents: Iterable[Mapping[str, Any]]) -> None:
        report = self.db.import_sessions(documents)
        if report.failed or report.skipped:
            raise RuntimeError(f"not everything came in: {report.failed or report.skipped}")

    def open(self, path: str) -> None:
        self.db = sessiondb.open(path)
        for name in works.LIVE_SESSIONS:
            self.db.create_session(name, "cli", "model-1")

    def operations(self, work: Work, number: int) -> Sequence[Operation]:
        db = self.db
        match work.kind:
            case "append" | "append-agent":
                return [partial(db.append_message, name, **row) for name, row in works.appended(work, number)]
            case "batch":
                return [partial(db.append_messages, name, rows) for name, rows in works.batches(work, number)]
            case "import" | "store":
                # Storing alone: what the floor does too. An import also indexes what it brings, by the way.
                sqlite.INDEXED_AFTER = sys.maxsize if work.kind == "store" else _INDEXED_AFTER
                return [partial(self._take_in, documents) for documents in works.imports(work, number)]
            case "load":
                return [partial(db.get_messages_as_conversation, name) for name in works.loaded(work, number)]
            case "rows":
                return [partial(db.get_messages, name) for name in works.loaded(work, number)]
            case "list":
                return [partial(db.list_sessions_rich, limit=works.LISTED, order_by="activity")] * work.count
            case "search":
                return self._searches(number)
        raise ValueError(f"unknown work {work.kind!r}")

    def _searches(self, number: int) -> list[Operation]:
        if number == 0:
            self.db.append_messages(works.LIVE_SESSIONS[0], searches.planted())
            self.db.index()
        made = {kind: self._search(kind, query) for kind, query in searches.queries().items()}
        self._hits = {kind: len(operation()) for kind, operation in made.items()}
        return list(made.values())

    def _search(self, kind: str, query: str) -> Callable[[], list[Any]]:
        if kind == searches.QUESTION:
            return partial(rank_messages, self.db, query, searches.LIMIT)
        return partial(self.db.search_messages, query, limit=searches.LIMIT)

    def facts(self) -> dict[str, Any]:
        health = self.db.health()
        settings = {"synchronous": health["synchronous"], "journal": health["journal_mode"]}
        return {**settings, "messages": self.db.message_count(), "hits": self._hits}

    def settle(self) -> None:
        self.db.index()

    def close(self) -> None:
        self.db.close()


if __name__ == "__main__":
    serve(Ours())
