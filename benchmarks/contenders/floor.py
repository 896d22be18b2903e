"""The floor: a bare apsw loop that says to SQLite what sessiondb says for the same work, and nothing else.

floor dicts     binds what it writes by name, hands out what it reads as dicts, as code that serves callers does
floor tuples    binds by place, hands out the driver's tuples
floor rows      makes the rows it sends while it runs, JSON included; the others have them ready
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from .. import tape
from ..worker import SYNCHRONOUS, Contender, Operation, serve
from ..works import Work
from .ours import Ours

READS = frozenset({"load", "rows", "list"})


class Floor(Contender):
    def __init__(self, form: str) -> None:
        self._form = form
        self._path = Path()
        self._connection: apsw.Connection | None = None
        self._scripts: list[list[list[tape.Step]]] = []

    def fill(self, path: str, sessions: int, messages_each: int) -> None:
        Ours().fill(path, sessions, messages_each)

    def open(self, path: str) -> None:
        """Let sessiondb create the store; the connection is made once its settings are known."""
        self._path = Path(path)
        creator = Ours()
        creator.open(path)
        creator.close()

    def prepare(self, **work: Any) -> None:
        recorder, rounds = self._rehearsed(Work(**work))
        self._scripts = [[tape.steps(said) for said in operations] for operations in rounds]
        self._connection = self._connected(recorder.settings(rounds[0][0][-1].connection))
        super().prepare(**work)

    def _rehearsed(self, work: Work) -> tuple[tape.Recorder, list[list[list[tape.Said]]]]:
        """What sessiondb says when it does the work on a copy of the store, operation by operation."""
        home = self._path.parent.with_name(self._path.parent.name + "-rehearsal")
        shutil.copytree(self._path.parent, home)
        recorder, program = tape.Recorder(), Ours()
        with recorder.listening():
            program.open(str(home / self._path.name))
            rounds = [
                [recorder.during(operation) for operation in program.operations(work, number)]
                for number in range(work.rounds)
            ]
            program.close()
        shutil.rmtree(home)
        return recorder, rounds

    def _connected(self, settings: Sequence[str]) -> apsw.Connection:
        connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
        for setting in settings:
            connection.execute(setting).fetchall()
        return connection

    def operations(self, work: Work, number: int) -> Sequence[Operation]:
        cursor = self._open_connection().cursor()
        scripts = self._scripts[number]
        if self._form == "rows":
            return [partial(tape.play_raw, cursor, tape.raw(script)) for script in scripts]
        if self._form == "tuples":
            return [partial(tape.play, cursor, tape.placed(script)) for script in scripts]
        if work.kind not in READS:
            return [partial(tape.play, cursor, script) for script in scripts]
        return [partial(tape.play_as_dicts, cursor, script, tape.columns(cursor, script)) for script in scripts]

    def _open_connection(self) -> apsw.Connection:
        if self._connection is None:
            raise RuntimeError("nothing prepared yet; the floor connects when it knows the settings")
        return self._connection

    def facts(self) -> dict[str, Any]:
        connection = self._open_connection()
        return {
            "synchronous": SYNCHRONOUS[connection.pragma("synchronous")],
            "journal": connection.pragma("journal_mode"),
            "messages": connection.execute("SELECT count(*) FROM messages").get,
            "statements": [sql for sql, _ in self._scripts[0][0]],
        }

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


if __name__ == "__main__":
    serve(Floor(sys.argv[1] if len(sys.argv) > 1 else "dicts"))
