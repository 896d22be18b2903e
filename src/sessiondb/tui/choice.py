"""What the list shows: words, scope, order, sources, tags, view, or the lineage of one session. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from unicodedata import east_asian_width

from ..cli.selection import HIDDEN_SOURCES
from ..models import Filter
from .scope import Scope

ORDERS = {"activity": "last active", "started": "last begun", "tokens": "most tokens"}
SEARCH_ORDERS = {"relevance": "best match", "newest": "newest", "oldest": "oldest"}
VIEWS = {"current": "", "pinned": "pinned", "archived": "archived", "all": "archived too"}
# Letters that a word may go on with; a filter, a phrase or an operator is complete as it stands.
_UNFINISHED = re.compile(r"(?:^|\s)\w{2,}$")
_OPERATORS = ("OR", "AND", "NOT")


@dataclass(frozen=True)
class Choice:
    scope: int = 0
    query: str = ""
    order: str = "activity"
    search_order: str = "relevance"
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    view: str = "current"
    # The session whose lineage is shown.
    family: str | None = None

    @property
    def searching(self) -> bool:
        return bool(self.query.strip()) and self.family is None

    def following(self, field: str, among: Sequence[str]) -> Choice:
        """The same with the next value of a field."""
        at = (among.index(getattr(self, field)) + 1) % len(among)
        return replace(self, **{field: among[at]})  # type: ignore[arg-type]

    def next_order(self) -> Choice:
        field, among = ("search_order", SEARCH_ORDERS) if self.searching else ("order", ORDERS)
        return self.following(field, tuple(among))

    def where(self, scope: Scope) -> Filter:
        """The sessions that are meant, as `sessiondb list` would choose them; a search also finds archived ones."""
        archived = {"current": None if self.searching else False, "archived": True}.get(self.view)
        return Filter(
            sources=self.sources or None,
            exclude_sources=() if self.sources else HIDDEN_SOURCES,
            tags=self.tags,
            cwd=scope.cwd,
            archived=archived,
            pinned=True if self.view == "pinned" else None,
            children=self.searching,
            tips=not self.searching,
        )

    def label(self) -> str:
        """What is chosen beside scope and words."""
        order = SEARCH_ORDERS[self.search_order] if self.searching else ORDERS[self.order]
        told = [order, VIEWS[self.view], ", ".join(self.sources), " ".join(f"#{tag}" for tag in self.tags)]
        return " · ".join(filter(None, told))


def completed(query: str) -> str:
    """The query while it is typed: its last word may go on."""
    text = query.rstrip("\n")
    last = text.split()[-1] if text.split() else ""
    wide = bool(text) and east_asian_width(text[-1]) in "WF"
    if wide or text.count('"') % 2 or last in _OPERATORS or not _UNFINISHED.search(text):
        return text
    return text + "*"


def words(query: str) -> list[str]:
    """The words to mark in a conversation; filters and operators are none."""
    bare = [word.strip('"*()') for word in query.split() if ":" not in word or "/" in word]
    return [word for word in bare if word and word not in _OPERATORS and not word.startswith("-")]
