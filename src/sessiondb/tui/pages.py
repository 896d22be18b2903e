"""A long list of which only some pages are known. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .row import Row

PAGE = 100


class Pages:
    """Rows by place; what was not loaded is None."""

    def __init__(self) -> None:
        self.total = 0
        self._rows: dict[int, Row] = {}
        self._asked: set[int] = set()

    def __len__(self) -> int:
        return self.total

    def __getitem__(self, place: int) -> Row | None:
        return self._rows.get(place)

    def loaded(self) -> Iterator[Row]:
        return (self._rows[place] for place in sorted(self._rows))

    def put(self, offset: int, rows: Sequence[Row], total: int) -> None:
        """What a page holds. The store may have changed: it then has fewer or more rows than it had."""
        self._rows.update(enumerate(rows, offset))
        self.total = max(total, offset + len(rows)) if rows else min(total, offset)
        for place in [place for place in self._rows if place >= self.total]:
            del self._rows[place]

    def missing(self, places: Iterable[int]) -> list[int]:
        """The offsets of pages to load so that these places can be shown; each is told once."""
        wanted = {place // PAGE * PAGE for place in places if 0 <= place < self.total and place not in self._rows}
        new = sorted(wanted - self._asked)
        self._asked |= wanted
        return new

    def forget(self, offset: int) -> None:
        """The page could not be loaded; it may be asked for again."""
        self._asked.discard(offset)

    def find(self, session_id: str | None) -> int | None:
        return next((place for place, row in self._rows.items() if row.id == session_id), None)
