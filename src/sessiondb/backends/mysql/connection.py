"""Connections: how they are opened, what is set on them, and statements on them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import pymysql  # type: ignore[import-untyped,unused-ignore]
from pymysql.constants import CLIENT, FIELD_TYPE  # type: ignore[import-untyped,unused-ignore]

from ...errors import Invalid
from ...sql.driver import OneByOne, Params, Row
from ...sql.escape import escape
from ...sql.nul import SURROGATES_AND_NUL
from . import faults
from .address import Address
from .dialect import MYSQL

READ, WRITE = "REPEATABLE-READ", "READ-COMMITTED"
EVERYTHING = 18446744073709551615
BATCH_BYTES = 1024 * 1024

NOTHING: Params = {}
_ROW_OF_VALUES = re.compile(r"\bVALUES\s*(\(.*\))\s*$", re.DOTALL)


def _plain(text: Any) -> int | float:
    """A DECIMAL, which is what sums of whole numbers are, as a number of Python."""
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() else float(value)


_DECODERS = {
    **pymysql.converters.conversions,
    FIELD_TYPE.DECIMAL: _plain,
    FIELD_TYPE.NEWDECIMAL: _plain,
}


@cache
def _unchecked() -> Any:
    """TLS without a look at the certificate, as the driver does when no authority is named; made once, it is slow."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class _Raw(pymysql.connections.Connection):  # type: ignore[misc,unused-ignore]
    """The driver's connection; it would read all authorities of the system for each one, and then not ask them."""

    def _create_ssl_ctx(self, options: Any) -> Any:
        return super()._create_ssl_ctx(options) if options else _unchecked()


class Connection:
    """A connection of the driver with what must be known about it."""

    def __init__(self, address: Address, lock_wait: float, timeout: float) -> None:
        self.address = address
        arguments: dict[str, Any] = {"connect_timeout": max(1, min(10, int(timeout))), **address.arguments()}
        self.raw = _Raw(
            charset="utf8mb4",
            autocommit=False,
            # Rows found, not rows changed: an update to the same value has found its row.
            client_flag=CLIENT.FOUND_ROWS,
            read_timeout=timeout + 60,
            write_timeout=timeout + 60,
            conv=_DECODERS,
            **arguments,
        )
        # The limit of the client's own packets must not come first.
        self.raw.max_allowed_packet = 1 << 30
        self.isolation = ""
        self.last_used = time.monotonic()
        try:
            self._prepare(max(1, int(lock_wait)))
        except BaseException:
            self.abandon()
            raise

    def _prepare(self, lock_wait: int) -> None:
        version, packet, step = self.query("SELECT VERSION(), @@max_allowed_packet, @@auto_increment_increment")[0]
        self.version, self.max_packet, self._id_step = str(version), int(packet), int(step)
        # A cluster gives each node its own ids, in steps as wide as it has nodes now.
        self.is_node = self.query("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'")[:1] == [("wsrep_on", "ON")]
        # Dates of tables are cached for a day there, and the next message id is one of them.
        live = "" if self.is_mariadb else ", information_schema_stats_expiry = 0"
        self.query(
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"
            f" innodb_lock_wait_timeout = {lock_wait}, group_concat_max_len = 1048576{live}"
        )

    def id_step(self) -> int:
        return int(self.query("SELECT @@auto_increment_increment")[0][0]) if self.is_node else self._id_step

    @property
    def is_mariadb(self) -> bool:
        return "mariadb" in self.version.lower()

    def query(self, sql: str, params: Mapping[str, Any] | Sequence[Any] | None = None) -> list[Row]:
        with self.raw.cursor() as cursor:
            cursor.execute(sql, params)
            return list(cursor.fetchall())

    def isolate(self, level: str) -> None:
        if self.isolation != level:
            self.query(f"SET SESSION TRANSACTION ISOLATION LEVEL {level.replace('-', ' ')}")
            self.isolation = level

    def commit(self) -> None:
        self.raw.commit()

    def rollback(self) -> bool:
        """Undo; False when the connection is gone, which undoes as well."""
        try:
            self.raw.rollback()
        except (faults.DriverError, OSError):
            return False
        return True

    def answers(self) -> bool:
        try:
            self.raw.ping(reconnect=False)
        except (faults.DriverError, OSError):
            return False
        return True

    def abandon(self) -> None:
        """Drop the socket without a word."""
        self.raw._force_close()

    def close(self) -> None:
        try:
            self.raw.close()
        except (faults.DriverError, OSError):
            self.abandon()


class MySQLTx(OneByOne):
    """Statements on one connection, inside a transaction."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def rows(self, sql: str, params: Params = NOTHING) -> list[Row]:
        with self.connection.raw.cursor() as cursor:
            self._execute(cursor, sql, params)
            return list(cursor.fetchall())

    def row(self, sql: str, params: Params = NOTHING) -> Row | None:
        found = self.rows(sql, params)
        return found[0] if found else None

    def run(self, sql: str, params: Params = NOTHING) -> int:
        with self.connection.raw.cursor() as cursor:
            self._execute(cursor, sql, params)
            return int(cursor.rowcount)

    def insert(self, sql: str, params: Params = NOTHING) -> int | None:
        with self.connection.raw.cursor() as cursor:
            self._execute(cursor, sql, params)
            return int(cursor.lastrowid) if cursor.rowcount else None

    def run_many(self, sql: str, params: Sequence[Params]) -> None:
        for each in params:
            self.run(sql, each)

    def insert_many(self, sql: str, params: Sequence[Params], *, plain: Sequence[bool] = ()) -> list[int]:
        """Rows in few statements; the ids of one statement follow each other, in the server's step."""
        text = MYSQL.text(sql)
        found = _ROW_OF_VALUES.search(text)
        assert found is not None, f"no row of values: {sql}"
        ids: list[int] = []
        with self.connection.raw.cursor() as cursor:
            for batch in self._batches(cursor, found[1], params):
                step = self.connection.id_step() if len(batch) > 1 else 1
                self._send(cursor, f"{text[: found.start(1)]}{', '.join(batch)}")
                first = int(cursor.lastrowid)
                if len(batch) > 1 and self.connection.id_step() != step:
                    raise faults.DriverError(faults.DEADLOCK, "a node came or went, and with it the step of ids")
                ids += range(first, first + step * len(batch), step)
        return ids

    def _batches(self, cursor: Any, row: str, params: Sequence[Params]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for each in params:
            text = cursor.mogrify(row, storable(each))
            if batch and size + len(text) > BATCH_BYTES:
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += len(text)
        if batch:
            yield batch

    def _execute(self, cursor: Any, sql: str, params: Params) -> None:
        self._send(cursor, cursor.mogrify(MYSQL.text(sql), storable(params)))

    def _send(self, cursor: Any, statement: str) -> None:
        limit = self.connection.max_packet - 1024
        # A packet that is too large would cost the connection, and the server's reason would be lost with it.
        if len(statement) * 4 > limit and (size := len(statement.encode("utf-8"))) > limit:
            raise Invalid(
                f"a statement of {size:,} bytes exceeds the server's max_allowed_packet "
                f"({self.connection.max_packet:,} bytes); raise that setting or store less at once"
            )
        cursor.execute(statement)


def storable(params: Params) -> Params:
    """The same parameters with what the server cannot hold escaped, and no limit as a number it takes."""
    changed: dict[str, Any] = {
        name: escape(value, SURROGATES_AND_NUL)
        for name, value in params.items()
        if value.__class__ is str and SURROGATES_AND_NUL.search(value)
    }
    if params.get("limit") == -1:
        changed["limit"] = EVERYTHING
    return {**params, **changed} if changed else params
