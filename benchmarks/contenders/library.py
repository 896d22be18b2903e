"""What the contenders from PyPI share: each kind of work is made of a few verbs that a library has, or has not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

from .. import corpus, works
from ..worker import SYNCHRONOUS, Contender, Operation
from ..works import Work

# A conversation as the library wants it: its name and its messages.
Told = tuple[str, list[Any]]


def as_set(connection: Any) -> dict[str, str]:
    """Durability as the library sets it, or leaves it, asked on a connection of its own."""
    answers = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode")}
    return {"synchronous": SYNCHRONOUS[answers["synchronous"]], "journal": answers["journal_mode"]}


def fold_in(connection: Any) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


class Library(Contender):
    @abstractmethod
    def connect(self, path: str) -> None: ...

    @abstractmethod
    def begin(self, name: str) -> None:
        """Make a conversation to append to, or know it again."""

    @abstractmethod
    def shaped(self, row: dict[str, Any]) -> Any:
        """A message in the library's own form; made beforehand, never timed."""

    @abstractmethod
    def append(self, name: str, message: Any) -> None: ...

    @abstractmethod
    def load(self, name: str) -> Any: ...

    @abstractmethod
    def stored(self) -> int:
        """How many messages the store holds."""

    @abstractmethod
    def settings(self) -> dict[str, str]: ...

    def take_in(self, conversations: Sequence[Told]) -> None:
        """Whole conversations, as fast as the library can; one by one where it has no other way."""
        for name, messages in conversations:
            self.begin(name)
            for message in messages:
                self.append(name, message)

    def latest(self) -> Any:
        raise NotImplementedError("it lists no conversations")

    def searches(self, number: int) -> list[Operation]:
        raise NotImplementedError("it does not search")

    def fill(self, path: str, sessions: int, messages_each: int) -> None:
        self.connect(path)
        for document in corpus.documents(works.FILLED, sessions, messages_each):
            self.take_in([self._told(document)])
        self.close()

    def open(self, path: str) -> None:
        self.connect(path)
        for name in works.LIVE_SESSIONS:
            self.begin(name)

    def _told(self, document: dict[str, Any]) -> Told:
        return document["id"], [self.shaped(row) for row in document["messages"]]

    def operations(self, work: Work, number: int) -> Sequence[Operation]:
        match work.kind:
            case "append" | "append-agent":
                return [partial(self.append, name, self.shaped(row)) for name, row in works.appended(work, number)]
            case "import":
                brought = works.imports(work, number)
                return [partial(self.take_in, [self._told(each) for each in documents]) for documents in brought]
            case "load":
                return [partial(self.load, name) for name in works.loaded(work, number)]
            case "list":
                return [self.latest] * work.count
            case "search":
                return self.searches(number)
        raise ValueError(f"it cannot do {work.kind!r}")

    def facts(self) -> dict[str, Any]:
        return {**self.settings(), "messages": self.stored(), "hits": getattr(self, "hits", {})}
