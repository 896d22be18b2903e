"""What a database spells differently, as named fragments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


def _as_written(sql: str) -> str:
    return sql


@dataclass(frozen=True)
class Dialect:
    """Fragments by name, and a last touch on the finished text (parameter style, qualified names)."""

    name: str
    fragments: Mapping[str, str]
    finish: Callable[[str], str] = _as_written
    _texts: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def text(self, sql: str) -> str:
        """The statement in this dialect; made once."""
        found = self._texts.get(sql)
        if found is None:
            if len(self._texts) > 500:
                # Filters make many spellings; statements of the core come back at once.
                self._texts.clear()
            found = self._texts[sql] = self.finish(sql.format_map(self.fragments))
        return found
