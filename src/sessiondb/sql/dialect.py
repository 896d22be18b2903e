"""What a database spells differently, as named fragments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

# The newest call of this id that has no answer yet, as the condition of an UPDATE.
PENDING_CALL = "session_id = :session_id AND call_id = :call_id AND status = 'pending'"
NEWEST_PENDING_CALL = f"id = (SELECT id FROM tool_calls WHERE {PENDING_CALL} ORDER BY id DESC LIMIT 1)"


def _as_written(sql: str) -> str:
    return sql


Places = Callable[[Mapping[str, Any]], tuple[Any, ...]]


@cache
def parameter() -> re.Pattern[str]:
    """What a named parameter looks like; a cast (`::`) is none."""
    return re.compile(r"(?<![:\w]):([a-z_]\w*)")


def named(sql: str) -> list[str]:
    """The names of a statement's parameters, each where it comes first."""
    return list(dict.fromkeys(parameter().findall(sql)))


def in_order(names: Sequence[str]) -> Places:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda row: tuple(row[name] for name in names)


class Dialect:
    """Fragments by name, and a last touch on the finished text (parameter style, qualified names)."""

    def __init__(self, name: str, fragments: Mapping[str, str], finish: Callable[[str], str] = _as_written) -> None:
        self.name, self.fragments, self.finish = name, fragments, finish
        self._texts: dict[str, str] = {}
        self._pairs: dict[tuple[str, str], str] = {}
        self._places: dict[tuple[str, ...], Places] = {}

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

    def places(self, *statements: str) -> Places:
        """What puts the parameters of statements of the core into the order in which they are named; made once.

        Some drivers take values by their place in half the time that they need to look each up by its name.
        """
        found = self._places.get(statements)
        if found is None:
            found = self._places[statements] = in_order(
                [name for each in statements for name in named(self.text(each))]
            )
        return found
