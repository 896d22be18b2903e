"""`MySQLProvider`: the SQL core on MySQL or MariaDB."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from ... import errors
from ...config import home_directory
from ...models import Draft, Filter, Matches, MessageFilter, Page, SearchOrder
from ...provider import Features
from ...search import analyze
from ...sql import appends
from ...sql.driver import Driver, Tx
from ...sql.provider import SQLProvider
from ..limits import limits
from .address import address

if TYPE_CHECKING:
    from ...search.query import Node, Query
    from ...search.relaxed import Candidates
    from .driver import MySQLDriver

R = TypeVar("R")
SCANNED = (
    "the words in the database were made by another version; the answer was read from the messages themselves "
    "(db.index() makes them again)"
)
# Room for the rest of a statement beside its largest value.
MARGIN = 64 * 1024

_SIZE = """
    SELECT COALESCE(SUM(data_length + index_length), 0)
      FROM information_schema.tables
     WHERE table_schema = DATABASE()
"""
# InnoDB keeps the words of a full-text index in tables of its own, which are not told here.
_INDEX_SIZE = """
    SELECT COALESCE(SUM(data_length + index_length), 0)
      FROM information_schema.tables
     WHERE table_schema = DATABASE()
       AND table_name IN ('search_words', 'search_chunks')
"""
_SETTINGS = """
    SELECT VERSION(), @@max_allowed_packet, @@innodb_flush_log_at_trx_commit, @@sync_binlog
"""
_COUNTS = """
    SELECT COUNT(*), COALESCE(SUM(message_count), 0)
      FROM sessions
"""


class PacketLimit(int):
    """A number of bytes that says where it comes from when it is shown."""

    def __format__(self, spec: str) -> str:
        return f"{int(self):{spec}} (half of the server's max_allowed_packet)"


class _Closed:
    """Stands where the driver was."""

    def read(self, work: Callable[[Tx], R]) -> R:
        raise errors.Closed("the store is closed; open it again")

    def write(self, work: Callable[[Tx], R]) -> R:
        raise errors.Closed("the store is closed; open it again")


class MySQLProvider(SQLProvider):
    name = "mysql"
    features = Features(indexed_search=True, bindings=True, revision=True)

    def __init__(self) -> None:
        self.driver: Driver = _Closed()
        self._server: MySQLDriver | None = None
        self._has_words = True

    @classmethod
    def is_available(cls) -> bool:
        return find_spec("pymysql") is not None

    def initialize(  # type: ignore[override]  # the options of this backend by name
        self,
        *,
        dsn: str | None = None,
        host: str | None = None,
        port: int | None = None,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        unix_socket: str | None = None,
        pool_size: int = 10,
        max_overflow: int = 5,
        deadline: float = 30.0,
        upgrade: bool = True,
        read_only: bool = False,
        media_directory: str | None = None,
    ) -> None:
        """Connect, install or upgrade the schema; a second call changes nothing.

        Media files are kept on this machine, in `media_directory`, or in the home under the database's name.
        """
        if self._server is not None:
            return
        if not self.is_available():
            raise errors.MissingExtra("the MySQL provider", "mysql")
        most = limits(pool_size, max_overflow, deadline)
        from .driver import MySQLDriver

        place = address(
            dsn, host=host, port=port, user=user, password=password, database=database, unix_socket=unix_socket
        )
        opened = MySQLDriver(place, **most._asdict(), read_only=read_only)
        kind, packet = opened.prepare(upgrade=upgrade)
        self._has_words = kind.analyser == analyze.VERSION
        limit = min(type(self).features.max_content_bytes, packet // 2 - MARGIN)
        self.features = replace(type(self).features, max_content_bytes=PacketLimit(limit))
        self.media_directory = media_directory or os.path.join(
            home_directory(os.environ), "media", quote(place.database, "")
        )
        self._server = self.driver = opened

    def shutdown(self) -> None:
        if self._server is not None:
            held, self._server, self.driver = self._server, None, _Closed()
            held.close()

    # --- what is safe to send twice ---

    def append(self, session_id: str, messages: Sequence[Draft], *, expected_seq: int | None = None) -> list[int]:
        keyed = expected_seq is None and all(draft.values["message_key"] is not None for draft in messages)
        if self._server is None or not messages or not keyed:
            return super().append(session_id, messages, expected_seq=expected_seq)
        write = self._server.write
        try:
            return write(lambda tx: appends.append_many(tx, session_id, messages, None), repeatable=True)
        except appends.Adrift:
            return write(lambda tx: appends.append_after_adoption(tx, session_id, messages, None), repeatable=True)

    # --- search ---

    def search(
        self, query: Query, where: Filter, messages: MessageFilter, page: Page, order: SearchOrder, now: float
    ) -> Matches:
        if query.node is None or self._server is None:
            return super().search(query, where, messages, page, order, now)
        if not self._has_words:
            scanned = super().search(query, where, messages, page, order, now)
            return replace(scanned, notices=(*scanned.notices, SCANNED))
        from .answer import Answer

        return self._server.read(lambda tx: Answer(tx, query, where, messages).found(page, order, now))

    def update_index(self, tick: Callable[[int, int], None] | None = None) -> None:
        """Make the words of all messages again, when another version of the analysis made them.

        In short transactions; appends and searches go on meanwhile.
        """
        if self._has_words:
            super().update_index(tick)
            return
        from .indexing import newest, reindex_some

        total = self.driver.read(newest)
        last: int | None = 0
        while last is not None:
            after = last
            last = self.driver.write(lambda tx, after=after: reindex_some(tx, after))  # type: ignore[misc]
            if tick is not None:
                tick(total if last is None else min(last, total), total)
        self._has_words = True

    def candidates(self, parts: Sequence[Node], where: Filter, messages: MessageFilter, limit: int) -> Candidates:
        if self._server is None or not self._has_words:
            return super().candidates(parts, where, messages, limit)
        from .partial import Partial

        return self._server.read(lambda tx: Partial(tx, parts, where, messages).gathered(limit))

    # --- facts ---

    def size_bytes(self) -> int:
        return self._bytes(_SIZE)

    def index_bytes(self) -> int:
        return self._bytes(_INDEX_SIZE)

    def _bytes(self, sql: str) -> int:
        found = self.driver.read(lambda tx: tx.row(sql))
        return int(found[0]) if found else 0

    def health(self) -> dict[str, Any]:
        facts = self.driver.read(_facts)
        from . import schema

        return {
            "provider": self.name,
            "status": "ok",
            "schema_version": schema.VERSION,
            **facts,
            **(self._server.facts() if self._server else {}),
            "address": str(self._server.address) if self._server else None,
            "size_bytes": self.size_bytes(),
        }


def _facts(tx: Tx) -> dict[str, Any]:
    version, packet, flush, sync = tx.row(_SETTINGS) or ("", 0, None, None)
    sessions, messages = tx.row(_COUNTS) or (0, 0)
    return {
        "server_version": version,
        "max_allowed_packet": packet,
        # 1 and 1: a commit that returned survives the loss of the machine.
        "innodb_flush_log_at_trx_commit": flush,
        "sync_binlog": sync,
        "sessions": sessions,
        "messages": messages,
    }
