"""What a database spells differently, as named fragments."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def _as_written(sql: str) -> str:
    return sql


class Dialect:
    """Fragments by name, and a last touch on the finished text (parameter style, qualified names)."""

    def __init__(self, name: str, fragments: Mapping[str, str], finish: Callable[[str], str] = _as_written) -> None:
        self.name, self.fragments, self.finish = name, fragments, finish
        self._texts: dict[str, str] = {}
        self._pairs: dict[tuple[str, str], str] = {}

    def text(self, sql: str) -> str:
        """The statement in this dialect; made once."""
        found = self._texts.get(sql)
        if found is None:
            if len(self._texts) > 500:
                # Filters make many spellings; statements of the core come back at once.
                self._texts.clear()
            found = self._texts[sql] = self.finish(sql.format_map(self.fragments))
        return found

    def pair(self, first: str, second: str) -> str:
        """Two statements as one text, for drivers that take both in one call; made once."""
        found = self._pairs.get((first, second))
        if found is None:
            found = self._pairs[first, second] = f"{self.text(first)};{self.text(second)}"
        return found
