"""Rows out of a damaged file: along the trees first, then from pages that no tree leads to any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....upkeep import Pages
from . import btree, catalogue
from .btree import Damaged, Node, Row
from .catalogue import SCHEMA_COLUMNS, Catalogue, Column, Index, Table
from .image import FREE, Image

_DEEPEST_TREE = 20
_SCHEMA = Table("sqlite_schema", 1, tuple(Column(name, "", False, False) for name in SCHEMA_COLUMNS), has_rowid=True)
# Any index: which one a page belongs to does not matter.
_INDEX = Table("an index", 0, (), has_rowid=False)


class Salvager:
    """Reads each page once. `rows` of all tables and `entries` of all indexes come first, then `strays`."""

    def __init__(self, image: Image, fresh: Catalogue, read: Pages | None = None) -> None:
        self.image = image
        self._read = read
        self.unreadable_pages = 0
        self.broken_cells = 0
        # Pages that should be there but cannot be read included.
        self._owners: dict[int, Table] = {}
        own = catalogue.of(row.values for row in self._walked(_SCHEMA.root, _SCHEMA))
        self.catalogue = own.corrected_by(fresh)

    def rows(self, table: Table) -> Iterator[Row]:
        return (row for row in self._walked(table.root, table) if table.fits(row))

    def entries(self, index: Index) -> Iterator[tuple[Any, ...]]:
        """The keys of an index, each with the rowid at its end."""
        return (row.values for row in self._walked(index.root, _INDEX))

    def strays(self) -> Iterator[tuple[Table, Row]]:
        """Rows on pages that are not free and belong to no tree that was read."""
        free = self.image.free_pages()
        for number in range(2, self.image.count + 1):
            if number in self._owners or number in free or self.image.is_special(number):
                continue
            found = self._stray_node(number)
            table = found and self._owner_of(number, found)
            if found and table:
                yield from ((table, row) for row in found.rows if table.fits(row))

    # --- trees ---

    def _walked(self, root: int, table: Table) -> Iterator[Row]:
        ahead = [root]
        while ahead:
            number = ahead.pop()
            found = self._tree_node(number, table)
            if self._read is not None:
                self._read(len(self._owners), self.image.count)
            if found is not None:
                yield from found.rows
                ahead.extend(reversed(found.children))

    def _tree_node(self, number: int, table: Table) -> Node | None:
        if not 0 < number <= self.image.count:
            self.broken_cells += 1
            return None
        if number in self._owners:
            return None
        try:
            found = btree.node(self.image, number)
        except Damaged:
            self._owners[number] = table
            self.unreadable_pages += 1
            return None
        if not _belongs(found, table):
            # A damaged pointer led to somebody else's page.
            self.broken_cells += 1
            return None
        self._owners[number] = table
        self.broken_cells += found.broken
        return found

    # --- strays ---

    def _stray_node(self, number: int) -> Node | None:
        if (mapped := self.image.mapped(number)) and mapped[0] == FREE:
            return None
        try:
            found = btree.node(self.image, number)
        except Damaged:
            return None
        return found if found.rows else None

    def _owner_of(self, number: int, found: Node) -> Table | None:
        mapped = self._by_map(number)
        if mapped is not None and _belongs(found, mapped):
            return mapped
        if found.kind != btree.TABLE_LEAF:
            return None
        fitting = [table for table in self.catalogue.tables.values() if table.has_rowid and _is_made_of(found, table)]
        return fitting[0] if len(fitting) == 1 else None

    def _by_map(self, number: int) -> Table | None:
        """Follow the pointer map upwards to a page whose owner is known."""
        for _ in range(_DEEPEST_TREE):
            mapped = self.image.mapped(number)
            if mapped is None or not 0 < mapped[1] <= self.image.count:
                break
            number = mapped[1]
            if number in self._owners:
                return self._owners[number]
        return None


def _belongs(found: Node, table: Table) -> bool:
    """Whether a page can be part of a table: the right kind of tree, and rows that fit, if any."""
    kinds = (btree.TABLE_LEAF, btree.TABLE_INNER) if table.has_rowid else (btree.INDEX_LEAF, btree.INDEX_INNER)
    rows_fit = not found.rows or not table.columns or any(map(table.fits, found.rows))
    return found.kind in kinds and rows_fit


def _is_made_of(found: Node, table: Table) -> bool:
    whole = [row for row in found.rows if len(row.values) == len(table.columns)]
    return bool(whole) and all(map(table.fits, found.rows))
