"""`SQLiteProvider`: the SQL core on a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ... import errors
from ...drafts import check_count, check_seconds
from ...models import Draft, Filter, Matches, MessageFilter, Page, SearchOrder
from ...provider import Change, Features
from ...sql.driver import Driver, Tx
from ...sql.provider import SQLProvider
from ...values import replace
from . import files, schema, store
from .connection import OLDEST_SQLITE, has_checksums, sqlite_version
from .engine import Engine, Options

if TYPE_CHECKING:
    from ...search.query import Node, Query
    from ...search.relaxed import Candidates

R = TypeVar("R")
SCANNED = "the search index could not be used; the answer was read from the messages themselves"
INDEXED_AFTER = 1000
_SYNCHRONOUS = ("FULL", "NORMAL", "EXTRA")


class _Closed:
    """Stands where the driver was."""

    def read(self, work: Callable[[Tx], R]) -> R:
        raise errors.Closed("the store is closed; open it again")

    def write(self, work: Callable[[Tx], R]) -> R:
        raise errors.Closed("the store is closed; open it again")


class Handle:
    """This provider's use of an engine that others may share, with its own patience."""

    def __init__(self, engine: Engine, deadline: float) -> None:
        self.engine = engine
        self.deadline = deadline
        self.read = engine.read

    def write(self, work: Callable[[Tx], R]) -> R:
        return self.engine.write(work, self.deadline)

    def facts(self) -> dict[str, Any]:
        return {**self.engine.facts(), "deadline": self.deadline}


class SQLiteProvider(SQLProvider):
    name = "sqlite"
    features = Features(indexed_search=True, bindings=True, revision=True, shared_bodies=True)

    def __init__(self) -> None:
        self.path: str | None = None
        self.driver: Driver = _Closed()
        # Messages of imported sessions since the index was last looked after.
        self._brought = 0

    @classmethod
    def is_available(cls) -> bool:
        return sqlite_version() >= OLDEST_SQLITE

    def initialize(  # type: ignore[override]  # the options of this backend by name
        self,
        *,
        path: str | os.PathLike[str],
        read_only: bool = False,
        upgrade: bool = True,
        synchronous: str = "FULL",
        deadline: float = 30.0,
        readers: int = 4,
        gate: bool = True,
        guard: bool = True,
        checksums: bool = False,
    ) -> None:
        """Open a file, creating or upgrading it; a second call changes nothing.

        `checksums` gives a file that is created here page checksums; others keep what they have.
        """
        if isinstance(self.driver, Handle):
            return
        if not self.is_available():
            needed, found = ".".join(map(str, OLDEST_SQLITE)), ".".join(map(str, sqlite_version()))
            raise errors.NotSupported(f"SQLite {needed} or newer is needed, apsw brings {found}: pip install -U apsw")
        if not isinstance(synchronous, str) or synchronous.upper() not in _SYNCHRONOUS:
            raise errors.Invalid(f"synchronous must be one of {', '.join(_SYNCHRONOUS)}, not {synchronous!r}")
        seconds = check_seconds(deadline, "deadline")
        check_count(readers, "readers")
        if not readers:
            raise errors.Invalid("readers must be at least 1: nobody could read")
        self.path = os.path.abspath(os.fspath(path))
        self.media_directory = self.path + ".media"
        options = Options(read_only, upgrade, synchronous.upper(), seconds, readers, gate, guard)
        opened = store.acquire(self.path, options, page_checksums=bool(checksums))
        self.driver = Handle(opened, seconds)

    def shutdown(self) -> None:
        if isinstance(self.driver, Handle):
            held, self.driver = self.driver, _Closed()
            store.release(held.engine)

    def create_session(
        self, row: Mapping[str, Any], messages: Sequence[Draft] = (), *, tags: Sequence[str] = ()
    ) -> bool:
        created = super().create_session(row, messages, tags=tags)
        if messages and isinstance(self.driver, Handle):
            self._index_along(self.driver.engine, len(messages))
        return created

    def _index_along(self, engine: Engine, brought: int) -> None:
        """Sessions that come with their messages are imported, many of them: the index follows in steps."""
        self._brought += brought
        if self._brought >= INDEXED_AFTER:
            from .index.keeping import index_along

            self._brought = 0
            index_along(engine)

    def revise(self, session_id: str, positions: Sequence[int], change: Change) -> int:
        self._overwrite_what_goes()
        return super().revise(session_id, positions, change)

    def revise_trash(self, change: Change) -> int:
        self._overwrite_what_goes()
        return super().revise_trash(change)

    def _overwrite_what_goes(self) -> None:
        """Texts are changed so that nobody reads the old ones: from now on this process leaves none in free space."""
        self.driver.write(lambda tx: tx.row("PRAGMA secure_delete = ON"))

    def search(
        self, query: Query, where: Filter, messages: MessageFilter, page: Page, order: SearchOrder, now: float
    ) -> Matches:
        if query.node is None or not isinstance(self.driver, Handle):
            return super().search(query, where, messages, page, order, now)
        found = self.driver.engine.searcher().search(query, where, messages, page, order, now)
        if found is not None:
            return found
        scanned = super().search(query, where, messages, page, order, now)
        return replace(scanned, notices=(*scanned.notices, SCANNED))

    def candidates(self, parts: Sequence[Node], where: Filter, messages: MessageFilter, limit: int) -> Candidates:
        if not parts or not isinstance(self.driver, Handle):
            return super().candidates(parts, where, messages, limit)
        found = self.driver.engine.searcher().candidates(parts, where, messages, limit)
        return super().candidates(parts, where, messages, limit) if found is None else found

    def near_words(self, words: Sequence[str]) -> dict[str, str]:
        if not isinstance(self.driver, Handle):
            return super().near_words(words)
        found = self.driver.engine.searcher().near_words(words)
        return super().near_words(words) if found is None else found

    def update_index(self, tick: Callable[[int, int], None] | None = None) -> None:
        if not isinstance(self.driver, Handle):
            raise errors.Closed("the store is closed; open it again")
        if self.driver.engine.options.read_only:
            raise errors.NotSupported(f"{self.path} was opened read-only; open it without read_only to index it")
        self.driver.engine.searcher().index(tick)

    def size_bytes(self) -> int:
        return sum(files.size(f"{self.path}{suffix}") for suffix in ("", "-wal")) + self.index_bytes()

    def index_bytes(self) -> int:
        from .index.files import generations

        return sum(files.size(path) + files.size(f"{path}-wal") for _, path in generations(self.path or ""))

    def large_texts(self) -> dict[str, Any] | None:
        return self.driver.read(_large_texts)

    def health(self) -> dict[str, Any]:
        from . import mounts

        settings = self.driver.read(_settings)
        facts = self.driver.facts() if isinstance(self.driver, Handle) else {}
        return {
            "provider": self.name,
            "status": "ok",
            "path": self.path,
            "schema_version": schema.VERSION,
            **settings,
            **facts,
            "checksums": has_checksums(self.path or ""),
            "filesystem": mounts.filesystem(self.path or ""),
            "size_bytes": self.size_bytes(),
            "wal_bytes": files.size(f"{self.path}-wal"),
            "index_lag": self._index_lag(),
        }

    def _index_lag(self) -> int | None:
        """How many messages the search index has not read yet; None while there is no index."""
        from .index.inspection import inspected

        found = inspected(self.path or "", lambda sql, values: self.driver.read(lambda tx: _number(tx, sql)))
        return None if found is None else found.lag


def _number(tx: Tx, sql: str) -> int:
    found = tx.row(sql)
    return int(found[0]) if found else 0


_LARGE_TEXTS = """
    SELECT (SELECT value FROM meta WHERE name = 'bodies'),
           (SELECT COUNT(*) FROM bodies),
           (SELECT COUNT(*) FROM body_references),
           (SELECT COALESCE(SUM(octet_length(data)), 0) FROM bodies),
           (SELECT COALESCE(SUM(b.size), 0) FROM body_references r JOIN bodies b ON b.reference = r.reference)
"""


def _large_texts(tx: Tx) -> dict[str, Any]:
    kept, texts, references, stored, said = tx.row(_LARGE_TEXTS) or (None, 0, 0, 0, 0)
    return {"kept": kept or "off", "texts": texts, "references": references, "bytes": stored, "text_bytes": said}


def _settings(tx: Tx) -> dict[str, Any]:
    sessions, messages = tx.row("SELECT COUNT(*), COALESCE(SUM(message_count), 0) FROM sessions") or (0, 0)
    journal = tx.row("PRAGMA journal_mode")
    return {
        "sqlite_version": ".".join(map(str, sqlite_version())),
        "journal_mode": journal[0] if journal else None,
        "sessions": sessions,
        "messages": messages,
    }
