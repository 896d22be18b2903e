"""llm: Response.log_to_db, a turn per message with the message as the prompt; searched as `llm logs -q` does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import llm  # type: ignore[import-not-found]
import sqlite_utils  # type: ignore[import-not-found]
from click.testing import CliRunner
from llm.cli import cli, load_conversation  # type: ignore[import-not-found]
from llm.migrations import migrate  # type: ignore[import-not-found]

from .. import searches, works
from ..worker import Operation, serve
from .library import Library, as_set, fold_in


class Silent(llm.Model):  # type: ignore[misc]
    """Answers nothing, at once: what is measured is the log."""

    model_id = "model-1"

    def execute(self, *_: Any, **__: Any) -> Iterator[str]:
        yield ""


@llm.hookimpl  # type: ignore[untyped-decorator]
def register_models(register: Any) -> None:
    register(Silent())


class LLM(Library):
    def connect(self, path: str) -> None:
        self._path = path
        self._db = sqlite_utils.Database(path)
        migrate(self._db)
        self._model = Silent()
        self._conversations: dict[str, Any] = {}
        self.hits: dict[str, int] = {}

    def begin(self, name: str) -> None:
        self._conversations[name] = llm.Conversation(model=self._model, id=name)

    def shaped(self, row: dict[str, Any]) -> Any:
        return row["content"]

    def append(self, name: str, message: Any) -> None:
        response = self._conversations[name].prompt(message)
        response.text()
        response.log_to_db(self._db)

    def load(self, name: str) -> Any:
        return load_conversation(name, database=self._path)

    def searches(self, number: int) -> list[Operation]:
        if number == 0:
            for row in searches.planted():
                self.append(works.LIVE_SESSIONS[0], row["content"])
        made = {kind: partial(self._search, query) for kind, query in searches.queries().items()}
        self.hits = {kind: operation() for kind, operation in made.items()}
        return list(made.values())

    def _search(self, query: str) -> int:
        """The command, run in this process: the start of an interpreter is not counted."""
        wanted = ["logs", "list", "-q", query, "-n", str(searches.LIMIT), "--json", "-d", self._path]
        said = CliRunner().invoke(cli, wanted)
        return len(json.loads(said.stdout)) if said.exit_code == 0 and said.stdout.strip() else 0

    def stored(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM turns").fetchone()[0])

    def settings(self) -> dict[str, str]:
        return as_set(self._db.conn)

    def settle(self) -> None:
        fold_in(self._db.conn)

    def close(self) -> None:
        self._db.close()


if __name__ == "__main__":
    import sys

    from llm.plugins import pm  # type: ignore[import-not-found]

    pm.register(sys.modules[__name__])
    serve(LLM())
