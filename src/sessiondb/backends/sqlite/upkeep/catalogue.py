"""Which trees a store has and what their rows look like: from the file's own schema, and where that is lost from a
fresh store's, whose trees lie in the same places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import apsw

from .btree import Row

_TYPES: dict[str, tuple[type, ...]] = {"TEXT": (str, bytes), "INTEGER": (int, float), "REAL": (int, float)}
SCHEMA_COLUMNS = ("type", "name", "tbl_name", "rootpage", "sql")
SCHEMA = f"SELECT {', '.join(SCHEMA_COLUMNS)} FROM sqlite_schema"

SchemaRow = tuple[Any, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: str
    required: bool
    is_rowid: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table and the columns of its records, in the order in which they are stored."""

    name: str
    root: int
    columns: tuple[Column, ...]
    has_rowid: bool

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def rowid_name(self) -> str:
        return next((column.name for column in self.columns if column.is_rowid), "rowid")

    def fits(self, row: Row) -> bool:
        """Whether a record can be one of this table's."""
        if not 0 < len(row.values) <= len(self.columns):
            return False
        return all(map(_suits, self.columns, row.values))

    def named(self, row: Row) -> dict[str, Any]:
        """The columns that the record has; newer ones are left to their defaults."""
        values = {
            column.name: _as_stored(column, value) for column, value in zip(self.columns, row.values, strict=False)
        }
        for column in self.columns:
            if column.is_rowid:
                values[column.name] = row.rowid
        return values


@dataclass(frozen=True, slots=True)
class Index:
    name: str
    table: str
    root: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    tables: dict[str, Table]
    indexes: dict[str, Index]

    def corrected_by(self, fresh: Catalogue) -> Catalogue:
        """This one, where it makes sense, and where it does not the other; what this one knows comes first.

        A name that the other does not know was damaged: what it stands for is found in its usual place.
        """
        tables = {
            name: _corrected(table, fresh.tables[name]) for name, table in self.tables.items() if name in fresh.tables
        }
        indexes = {name: index for name, index in self.indexes.items() if name in fresh.indexes}
        return Catalogue(_completed(tables, fresh.tables), _completed(indexes, fresh.indexes))


def _corrected(table: Table, fresh: Table) -> Table:
    """A table with as many columns as it should have has these columns, however its description reads now."""
    return replace(fresh, root=table.root) if len(table.columns) == len(fresh.columns) else table


def _completed(known: dict[str, T], fresh: dict[str, T]) -> dict[str, T]:
    return known | {name: each for name, each in fresh.items() if name not in known}


def _as_stored(column: Column, value: Any) -> Any:
    """The value as SQLite would answer it: whole numbers of REAL columns are kept as integers on the page."""
    if column.kind == "REAL" and isinstance(value, int):
        return float(value)
    return value.decode("utf-8", "replace") if column.kind == "TEXT" and isinstance(value, bytes) else value


def _suits(column: Column, value: Any) -> bool:
    if column.is_rowid or value is None:
        return value is None and (column.is_rowid or not column.required)
    return isinstance(value, _TYPES.get(column.kind, (object,)))


def of(rows: Iterable[SchemaRow]) -> Catalogue:
    """The catalogue that rows of sqlite_schema describe; rows that do not make sense are left out."""
    tables: dict[str, Table] = {}
    indexes: dict[str, Index] = {}
    scratch = apsw.Connection(":memory:", vfs="unix")
    try:
        for row in rows:
            if not _is_schema_row(row):
                continue
            kind, name, table, root, sql = row
            if kind == "index":
                indexes[name] = Index(name, table, root)
            elif kind == "table" and (found := _described(scratch, name, sql)) is not None:
                tables[name] = replace(found, root=root)
    finally:
        scratch.close()
    return Catalogue(tables, indexes)


def _is_schema_row(row: SchemaRow) -> bool:
    if len(row) != 5 or not all(isinstance(part, str) for part in row[:3]):
        return False
    return isinstance(row[3], int) and row[3] > 0 and (row[4] is None or isinstance(row[4], str))


def _described(scratch: apsw.Connection, name: str, sql: str | None) -> Table | None:
    if name.startswith("sqlite_") or not sql or not sql.upper().startswith("CREATE TABLE"):
        return None
    try:
        scratch.execute(sql)
        found: list[SchemaRow] = scratch.execute(
            'SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (name,)
        ).fetchall()
        listed = scratch.execute("SELECT wr FROM pragma_table_list WHERE name = ?", (name,)).fetchall()
    except apsw.Error:
        return None
    if not found or not listed:
        # The statement makes another table than its name says.
        return None
    without = bool(listed[0][0])
    alias = not without and [row[1].upper() for row in found if row[3]] == ["INTEGER"]
    ordered = sorted(found, key=lambda row: row[3] or len(found) + 1) if without else found
    columns = tuple(Column(row[0], row[1].upper(), bool(row[2]), bool(alias and row[3])) for row in ordered)
    return Table(name, 0, columns, not without)
