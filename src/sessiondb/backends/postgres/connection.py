"""Statements of the SQL core on a connection."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg

from ...sql.appends import INSERT_PLACED
from ...sql.dialect import Dialect
from ...sql.driver import OneByOne, Params, Row
from ...sql.escape import escape
from ...sql.nul import SURROGATES_AND_NUL
from . import copying
from .index.vectors import index_rows

Connection = psycopg.Connection[Row]

_NOTHING: Params = {}
_INTO = re.compile(r"\s*INSERT INTO (\w+)")


def storable(params: Params) -> Mapping[str, Any]:
    """The same parameters, escaped where needed: PostgreSQL holds neither lone surrogates nor NUL."""
    for value in params.values():
        if value.__class__ is str and not copying.is_safe(value):
            return {name: escape(item, SURROGATES_AND_NUL) if isinstance(item, str) else item
                    for name, item in params.items()}  # fmt: skip
    return params


class PostgresTx(OneByOne):
    """Statements on one connection, inside a transaction that somebody else began."""

    __slots__ = ("connection", "dialect")

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self.connection = connection
        self.dialect = dialect

    def _executed(self, sql: str, params: Params) -> psycopg.Cursor[Row]:
        # How to search depends on the words: a plan made once for all of them is bad for most.
        prepare = False if "TSQUERY" in sql or "LIKE" in sql else None
        return self.connection.execute(self.dialect.text(sql).encode(), storable(params), prepare=prepare)

    def rows(self, sql: str, params: Params = _NOTHING) -> list[Row]:
        return self._executed(sql, params).fetchall()

    def row(self, sql: str, params: Params = _NOTHING) -> Row | None:
        return self._executed(sql, params).fetchone()

    def run(self, sql: str, params: Params = _NOTHING) -> int:
        return self._executed(sql, params).rowcount

    def insert(self, sql: str, params: Params = _NOTHING) -> int | None:
        found = self.row(f"{sql} RETURNING {_id_of(sql)}", params)
        return None if found is None else int(found[0])

    def insert_many(self, sql: str, params: Sequence[Params], *, plain: Sequence[bool] = ()) -> list[int]:
        if sql is INSERT_PLACED and len(params) >= copying.ENOUGH:
            return copying.copied(self, params)
        if sql in copying.ATTACHED and len(params) >= copying.ENOUGH:
            copying.copy_attached(self, sql, params)
            return []
        cursor = self.connection.cursor()
        text = self.dialect.text(f"{sql} RETURNING {_id_of(sql)}").encode()
        cursor.executemany(text, [storable(each) for each in params], returning=True)
        ids = [int(row[0]) for result in cursor.results() for row in result]
        if sql is INSERT_PLACED:
            index_rows(self, zip(ids, params, strict=True))
        return ids

    def run_many(self, sql: str, params: Sequence[Params]) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(self.dialect.text(sql).encode(), [storable(each) for each in params])


def _id_of(sql: str) -> str:
    found = _INTO.match(sql)
    return "trash_id" if found and found[1] == "trash_sessions" else "id"
