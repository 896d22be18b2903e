"""hermes-agent's SessionDB; runs in the peer's virtualenv, so it knows nothing of sessiondb.

peer            durable: synchronous=FULL
peer default    as it comes
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import hermes_state  # type: ignore[import-not-found]

from .. import corpus, searches, works
from ..worker import Contender, Operation, serve
from ..works import Work
from .library import as_set, fold_in

# It refuses larger imports.
SESSIONS_PER_IMPORT = 50


class Peer(Contender):
    db: Any

    def __init__(self, durability: str) -> None:
        self._durability = durability
        self._hits: dict[str, int] = {}

    def fill(self, path: str, sessions: int, messages_each: int) -> None:
        self._connect(path)
        # History is made as fast as it can; only what is timed must be durable.
        self.db._conn.execute("PRAGMA synchronous=OFF")
        waiting: list[dict[str, Any]] = []
        for document in corpus.documents(works.FILLED, sessions, messages_each):
            waiting.append(document)
            if len(waiting) == SESSIONS_PER_IMPORT:
                self._take_in(waiting)
                waiting = []
        self._take_in(waiting)
        self.db.close()

    def _connect(self, path: str) -> None:
        self.db = hermes_state.SessionDB(Path(path))
        if self._durability == "full":
            self.db._conn.execute("PRAGMA synchronous=FULL")

    def _take_in(self, documents: list[dict[str, Any]]) -> None:
        report = self.db.import_sessions(documents)
        if report["errors"] or report["imported"] != len(documents):
            raise RuntimeError(f"not everything came in: {report}")

    def open(self, path: str) -> None:
        self._connect(path)
        for name in works.LIVE_SESSIONS:
            self.db.create_session(name, "cli", model="model-1")

    def operations(self, work: Work, number: int) -> Sequence[Operation]:
        db = self.db
        match work.kind:
            case "append" | "append-agent":
                return [partial(db.append_message, name, **row) for name, row in works.appended(work, number)]
            case "import":
                return [partial(self._take_in, documents) for documents in works.imports(work, number)]
            case "load":
                return [partial(db.get_messages_as_conversation, name) for name in works.loaded(work, number)]
            case "rows":
                return [partial(db.get_messages, name) for name in works.loaded(work, number)]
            case "list":
                return [partial(db.list_sessions_rich, limit=works.LISTED, order_by_last_active=True)] * work.count
            case "search":
                return self._searches(number)
        raise ValueError(f"it cannot do {work.kind!r}")

    def _searches(self, number: int) -> list[Operation]:
        if number == 0:
            for row in searches.planted():
                self.db.append_message(works.LIVE_SESSIONS[0], **row)
        wanted = searches.queries()
        made = {kind: partial(self.db.search_messages, query, limit=searches.LIMIT) for kind, query in wanted.items()}
        self._hits = {kind: len(operation()) for kind, operation in made.items()}
        return list(made.values())

    def facts(self) -> dict[str, Any]:
        return {**as_set(self.db._conn), "messages": self.db.message_count(), "hits": self._hits}

    def settle(self) -> None:
        fold_in(self.db._conn)

    def close(self) -> None:
        self.db.close()


if __name__ == "__main__":
    serve(Peer(sys.argv[1] if len(sys.argv) > 1 else "full"))
