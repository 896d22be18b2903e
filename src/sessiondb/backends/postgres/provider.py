"""`PostgreSQLProvider`: the SQL core on a server."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import quote

from ... import errors
from ...config import home_directory
from ...config_file import count_or_off
from ...models import Draft, Filter, Matches, MessageFilter, Page, SearchOrder, TextMode
from ...provider import Features
from ...sql import appends
from ...sql.driver import Driver, Tx
from ...sql.provider import SQLProvider
from ...sql.trash import TrashPrimitives
from ..limits import checked, limits
from .replica import Routed, lists_on_replica

if TYPE_CHECKING:
    from ...search.nodes import Node
    from ...search.query import Query
    from ...search.relaxed import Candidates
    from .engine import Engine
    from .pool import Options, Pool

R = TypeVar("R")
SCANNED = (
    "the search index is of another version; the answer was read from the messages themselves "
    "(db.index() makes it again)"
)
NO_INDEX = (
    "the search index was put off by a move that is not finished: searches are slow "
    "(finish the move, or `sessiondb optimize --reindex` makes it)"
)
_TRIGRAMS = ("auto", "on", "off")
_SYNCHRONOUS = (None, "on", "off", "local", "remote_write", "remote_apply")
SIZE = """
    SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)
      FROM pg_class c
     WHERE c.relnamespace = to_regnamespace(:schema)
       AND c.relkind = 'r'
"""
INDEX_SIZE = f"{SIZE} AND c.relname = 'search_tokens'"
FACTS = """
    SELECT current_setting('server_version'), current_setting('synchronous_commit'), COUNT(*),
           COALESCE(SUM(message_count), 0)
      FROM sessions
"""


class PostgresDriver(Driver, Protocol):
    def look(self, work: Callable[[Tx], R]) -> R:
        """Run `work` without a transaction: for one statement, which is a snapshot by itself."""


class _Closed:
    """Stands where the driver was."""

    def look(self, work: Callable[[Tx], R]) -> R:
        raise errors.Closed("the store is closed; open it again")

    def read(self, work: Callable[[Tx], R]) -> R:
        raise errors.Closed("the store is closed; open it again")

    def write(self, work: Callable[[Tx], R]) -> R:
        raise errors.Closed("the store is closed; open it again")


@lists_on_replica
class PostgreSQLProvider(SQLProvider):
    name = "postgresql"
    features = Features(indexed_search=True, bindings=True, revision=True)

    def __init__(self) -> None:
        self.schema = "public"
        self.driver: PostgresDriver = _Closed()
        self._engine: Engine | None = None
        self._routed: Routed | None = None
        self._trigrams: Any = "auto"
        # Whether the index was missing when it was last looked for.
        self._index_put_off = False

    @classmethod
    def is_available(cls) -> bool:
        return find_spec("psycopg") is not None and find_spec("psycopg_pool") is not None

    def initialize(  # type: ignore[override]  # the options of this backend by name
        self,
        *,
        dsn: str = "",
        read_dsn: str = "",
        pool: Pool | None = None,
        pool_size: int = 10,
        max_overflow: int = 5,
        schema: str = "public",
        deadline: float = 30.0,
        synchronous_commit: str | None = None,
        prepare_threshold: int | None = 5,
        trigrams: str = "auto",
        upgrade: bool = True,
        read_only: bool = False,
        media_directory: str | None = None,
    ) -> None:
        """Open the tables of a schema, creating or upgrading them; a second call changes nothing.

        `pool` is the caller's psycopg_pool and stays his. Behind a transaction pooler set `prepare_threshold=None`.
        `trigrams` is the index for parts of words and words with slips: "auto" makes it with a new store where the role
        may, "on" makes it or raises, "off" does without.
        `read_dsn` names a standby: lists and searches are read there when it has seen what this handle wrote.
        Media files are kept on this machine, in `media_directory`, or in the home under the schema's name.
        """
        if self._engine is not None:
            return
        if not self.is_available():
            raise errors.MissingExtra("PostgreSQL", "postgres")
        from .pool import Options

        self.schema = _checked(schema, synchronous_commit)
        if trigrams not in _TRIGRAMS:
            raise errors.Invalid(f"trigrams must be one of {', '.join(_TRIGRAMS)}, not {trigrams!r}")
        self._trigrams = trigrams
        most = limits(pool_size, max_overflow, deadline)
        threshold = checked(
            "prepare_threshold", count_or_off, "off" if prepare_threshold is None else prepare_threshold
        )
        options = Options(dsn, schema, *most, synchronous_commit, threshold, read_only)
        self.media_directory = media_directory or os.path.join(home_directory(os.environ), "media", quote(schema, ""))
        self._engine = self.driver = self._opened(options, pool, upgrade and not read_only, trigrams)
        self._index_put_off = True
        self._look_for_index()
        if read_dsn:
            self._routed = self.driver = Routed(self._engine, options, read_dsn)

    def _opened(self, options: Options, pool: Pool | None, upgrade: bool, trigrams: Any) -> Engine:
        from .engine import Engine
        from .opening import prepare
        from .pool import parsed

        if pool is None:
            if not options.dsn:
                raise errors.Invalid("PostgreSQL needs a dsn (postgresql://user:password@host/database) or a pool")
            options = replace(options, dsn=parsed(options.dsn))
        elif not hasattr(pool, "getconn"):
            raise errors.Invalid(f"pool must be a psycopg_pool.ConnectionPool, not {type(pool).__name__}")
        indexed = prepare(options, pool, upgrade=upgrade, wish=trigrams)
        self.features = replace(type(self).features, indexed_text_search=indexed)
        return Engine(options, pool)

    def shutdown(self) -> None:
        if self._engine is not None:
            held, self._engine, self.driver = self._engine, None, _Closed()
            held.close()
        if self._routed is not None:
            routed, self._routed = self._routed, None
            routed.close()

    # --- what differs from the core ---

    def append(self, session_id: str, messages: Sequence[Draft], *, expected_seq: int | None = None) -> list[int]:
        if self._engine is None:
            return super().append(session_id, messages, expected_seq=expected_seq)
        from .appends import is_single

        if expected_seq is None and len(messages) == 1 and is_single(messages[0]):
            message_id = self._engine.append(session_id, messages[0])
            if message_id is not None:
                return [message_id]
        repeatable = all(draft.values["message_key"] is not None for draft in messages)
        try:
            return self._engine.write(
                lambda tx: appends.append_many(tx, session_id, messages, expected_seq), repeatable=repeatable
            )
        except appends.Adrift:
            return self._engine.write(
                lambda tx: appends.append_after_adoption(tx, session_id, messages, expected_seq), repeatable=repeatable
            )

    def restore(self, session_id: str, *, new_id: str | None = None, new_title: bool = False) -> str:
        def restore_and_index(tx: Tx) -> str:
            from .index.vectors import index_session

            restored: str = _restore(self, tx, session_id, new_id=new_id, new_title=new_title)
            index_session(tx, restored)
            return restored

        return self.driver.write(restore_and_index)

    def usage_by_model(self, where: Filter) -> list[dict[str, Any]]:
        # A sum of 64-bit numbers comes as a Decimal.
        return [{name: _number(value) for name, value in row.items()} for row in super().usage_by_model(where)]

    def search(
        self, query: Query, where: Filter, messages: MessageFilter, page: Page, order: SearchOrder, now: float
    ) -> Matches:
        node = query.node
        if node is None:
            return super().search(query, where, messages, page, order, now)

        from .index.answer import Answer
        from .index.glance import glance

        known = self.driver.look(lambda tx: glance(tx, node))
        if known.is_stale:
            scanned = super().search(query, where, messages, page, order, now)
            return replace(scanned, notices=(*scanned.notices, SCANNED))
        if known.finds_nothing:
            found = Matches([], 0, notices=query.notices)
        else:
            found = self.driver.read(lambda tx: Answer(tx, query, node, where, messages, known).found(page, order, now))
        return replace(found, notices=(*found.notices, NO_INDEX)) if self._look_for_index() else found

    def _titles_with(self, node: Node) -> list[str]:
        from ...sql.titles import titled

        return self.driver.look(lambda tx: titled(tx, node))

    def candidates(self, parts: Sequence[Node], where: Filter, messages: MessageFilter, limit: int) -> Candidates:
        from .index.glance import glance
        from .index.partial import Partial

        known = self.driver.look(glance)
        if known.is_stale:
            return super().candidates(parts, where, messages, limit)
        return self.driver.read(lambda tx: Partial(tx, parts, where, messages, known).gathered(limit))

    def search_text(
        self,
        pattern: str,
        mode: TextMode,
        where: Filter,
        messages: MessageFilter,
        page: Page,
        *,
        oldest: bool = False,
        deadline: float,
    ) -> Matches:
        from .index.parts import Wanted, candidates, condition
        from .index.rebuild import is_stale

        found = condition(pattern, mode) if self.features.indexed_text_search else None
        if found is None or self.driver.read(is_stale):
            return super().search_text(pattern, mode, where, messages, page, oldest=oldest, deadline=deadline)
        from ...search.modes import scan_text

        wanted = Wanted(where, messages, oldest, time.monotonic() + deadline)
        rows = candidates(
            self.driver.read, lambda: self.scan_messages(where, messages, newest=not oldest), found, wanted
        )
        return scan_text(rows, pattern, mode, page, deadline)

    def update_index(self, tick: Callable[[int, int], None] | None = None) -> None:
        """Make the index that a load put off, and the words again when another version of the analysis made them."""
        from .index.rebuild import is_stale, rebuild

        self._make_up()
        if not self.driver.read(is_stale):
            super().update_index(tick)
        else:
            rebuild(self.driver.write, tick)
        self._settle()

    def _settle(self) -> None:
        if self._engine is not None and not self._engine.options.read_only:
            from .index.settle import settle

            self._engine.write(lambda tx: settle(tx, self.schema))

    def expect_load(self) -> None:
        if self._engine is not None and not self._engine.options.read_only:
            from .postponed import put_off

            self._index_put_off = put_off(self._engine.options, self._engine.pools.lent, self._trigrams)

    def _look_for_index(self) -> bool:
        """Whether a move has put the index off and not made it; not asked again once it is there."""
        if self._index_put_off and self._engine is not None:
            from .postponed import is_due

            self._index_put_off = self._engine.read(lambda tx: is_due(tx, self.schema))
        return self._index_put_off

    def _make_up(self) -> None:
        if self._engine is None or self._engine.options.read_only:
            return
        from .postponed import is_due, make_up

        if self._engine.read(lambda tx: is_due(tx, self.schema)):
            has_letters = make_up(self._engine.options, self._engine.pools.lent, self._trigrams)
            self.features = replace(self.features, indexed_text_search=has_letters)

    # --- facts ---

    def size_bytes(self) -> int:
        return self._bytes(SIZE)

    def index_bytes(self) -> int:
        return self._bytes(INDEX_SIZE)

    def _bytes(self, sql: str) -> int:
        def size(tx: Tx) -> int:
            from .dialect import quoted

            found = tx.row(sql, {"schema": quoted(self.schema)})
            return int(found[0]) if found else 0

        return self.driver.read(size)

    def health(self) -> dict[str, Any]:
        from .schema import VERSION

        version, synchronous, sessions, messages = self.driver.read(lambda tx: tx.row(FACTS)) or ("", "", 0, 0)
        return {
            "provider": self.name,
            "status": "ok",
            "schema": self.schema,
            "schema_version": VERSION,
            "server_version": version,
            "synchronous_commit": synchronous,
            "trigrams": self.features.indexed_text_search,
            "index_put_off": self._look_for_index(),
            "sessions": sessions,
            "messages": int(messages),
            "size_bytes": self.size_bytes(),
            **(self._engine.facts() if self._engine else {}),
            **(self._routed.facts() if self._routed else {}),
        }


_restore: Callable[..., str] = TrashPrimitives.restore.__wrapped__  # type: ignore[attr-defined]  # set by @write


def _number(value: Any) -> Any:
    from decimal import Decimal

    return int(value) if isinstance(value, Decimal) else value


def _checked(schema: str, synchronous_commit: str | None) -> str:
    if not isinstance(schema, str) or not schema or len(schema.encode("utf-8", "replace")) > 63 or "\0" in schema:
        raise errors.Invalid(f"a schema is named by 1 to 63 bytes, not {schema!r}")
    if synchronous_commit not in _SYNCHRONOUS:
        known = ", ".join(str(name) for name in _SYNCHRONOUS[1:])
        raise errors.Invalid(f"synchronous_commit must be one of {known}, not {synchronous_commit!r}")
    return schema
