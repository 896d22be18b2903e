"""Writes down what a program says to SQLite through apsw, and says it again without the program."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import apsw

SETTING = re.compile(r"\s*PRAGMA\s+\w+\s*=", re.IGNORECASE)
PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)")
CHECKPOINTS = {
    apsw.SQLITE_CHECKPOINT_PASSIVE: "PASSIVE",
    apsw.SQLITE_CHECKPOINT_FULL: "FULL",
    apsw.SQLITE_CHECKPOINT_RESTART: "RESTART",
    apsw.SQLITE_CHECKPOINT_TRUNCATE: "TRUNCATE",
}

JSON_COLUMNS = ("tool_calls", "reasoning_details", "codex_reasoning_items", "metadata", "model_config")

Bindings = Mapping[str, Any] | Sequence[Any] | None
# A statement with one set of parameters, or with all those that followed each other.
Step = tuple[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Said:
    connection: int
    sql: str
    bindings: Bindings


class Recorder:
    """Listens to every apsw connection that is opened while it is `listening`."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self._listener = threading.get_ident()
        # Kept, so that no later connection gets the identity of a closed one.
        self._heard: list[apsw.Connection] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        original = apsw.Connection
        # A hook sees statements only; how often the log is checkpointed decides what the next commits cost.
        apsw.Connection = self._overheard(original)  # type: ignore[misc]
        try:
            yield
        finally:
            apsw.Connection = original  # type: ignore[misc]

    def _overheard(self, original: type[apsw.Connection]) -> type[apsw.Connection]:
        recorder = self

        class Overheard(original):  # type: ignore[misc, valid-type]
            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options)
                recorder._heard.append(self)
                # The index has files of its own, and a floor stores only.
                if "-search-" not in self.filename:
                    self.exec_trace = partial(recorder._note, id(self))

            def wal_checkpoint(self, dbname: str | None = None, mode: int = apsw.SQLITE_CHECKPOINT_PASSIVE) -> Any:
                recorder._note(id(self), self, f"PRAGMA wal_checkpoint({CHECKPOINTS[mode]})", None)
                return super().wal_checkpoint(dbname, mode)

        return Overheard

    def _note(self, connection: int, source: Any, sql: str, bindings: Any) -> bool:
        if threading.get_ident() != self._listener:
            # A background thread indexes; that is not what the caller waits for.
            return True
        self.said.append(Said(connection, sql, _by_name(source, bindings)))
        return True

    def during(self, operation: Callable[[], object]) -> list[Said]:
        """What is said while the operation runs."""
        start = len(self.said)
        operation()
        return self.said[start:]

    def settings(self, connection: int) -> list[str]:
        """The settings made on a connection, in order; they decide what its statements cost."""
        return [line.sql for line in self.said if line.connection == connection and SETTING.match(line.sql)]


def _by_name(source: Any, bindings: Any) -> Bindings:
    """Parameters as a loop over messages has them, by name, however the program bound them."""
    if bindings is None:
        return None
    if isinstance(bindings, Mapping):
        return dict(bindings)
    names = source.bindings_names
    return dict(zip(names, bindings, strict=True)) if names and all(names) else tuple(bindings)


def steps(said: Sequence[Said]) -> list[Step]:
    """What a hand-written loop would send: runs of the same statement as one `executemany`."""
    return [(sql, [line.bindings for line in run]) for sql, run in groupby(said, key=lambda line: line.sql)]


def play(cursor: apsw.Cursor, script: Sequence[Step]) -> None:
    for sql, bindings in script:
        if len(bindings) == 1:
            cursor.execute(sql, bindings[0]).fetchall()
        else:
            cursor.executemany(sql, bindings).fetchall()


def placed(script: Sequence[Step]) -> list[Step]:
    """The same steps with parameters by place, in the order in which the statement names them: sooner bound."""
    return [(sql, [_values(sql, each) for each in bindings]) for sql, bindings in script]


def _values(sql: str, row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    return tuple(row[name] for name in dict.fromkeys(PARAMETER.findall(sql)))


@dataclass(frozen=True, slots=True)
class Raw:
    """A row before it is one: what the caller gave, objects where the row has JSON."""

    blank: dict[str, None]
    given: dict[str, Any]
    objects: dict[str, Any]

    def made(self) -> dict[str, Any]:
        row = {**self.blank, **self.given}
        for name, value in self.objects.items():
            row[name] = to_json(value)
        return row


to_json = json.JSONEncoder(ensure_ascii=False).encode


def raw(script: Sequence[Step]) -> list[Step]:
    """The same steps with their rows still to be made."""
    return [(sql, [_raw(each) if isinstance(each, dict) else each for each in bindings]) for sql, bindings in script]


def _raw(row: dict[str, Any]) -> Raw:
    objects = {name: json.loads(row[name]) for name in JSON_COLUMNS if row.get(name) is not None}
    given = {name: value for name, value in row.items() if value is not None and name not in objects}
    return Raw(dict.fromkeys(row), given, objects)


def play_raw(cursor: apsw.Cursor, script: Sequence[Step]) -> None:
    """Make the rows of the messages, and send them, as any loop over messages must."""
    for sql, bindings in script:
        if not isinstance(bindings[0], Raw):
            play(cursor, [(sql, bindings)])
        elif len(bindings) == 1:
            cursor.execute(sql, bindings[0].made()).fetchall()
        else:
            cursor.executemany(sql, map(Raw.made, bindings)).fetchall()


def columns(cursor: apsw.Cursor, script: Sequence[Step]) -> list[tuple[str, ...]]:
    """The names of the columns that each reading step gives, found by running it; () for none."""
    found: list[tuple[str, ...]] = []
    for sql, bindings in script:
        names: tuple[str, ...] = ()
        for _ in cursor.execute(sql, bindings[0]):
            names = names or tuple(column[0] for column in cursor.description)
        found.append(names)
    return found


def play_as_dicts(cursor: apsw.Cursor, script: Sequence[Step], names: Sequence[tuple[str, ...]]) -> list[Any]:
    """Reading steps, with rows in the form in which callers can use them."""
    answers = []
    for (sql, bindings), keys in zip(script, names, strict=True):
        answers.append([dict(zip(keys, row, strict=True)) for row in cursor.execute(sql, bindings[0])])
    return answers
