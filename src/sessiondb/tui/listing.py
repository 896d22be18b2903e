"""What the list shows, read from the store page by page; everything here runs beside the screen, in a thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..db import SessionDB
from ..models import Filter, ListedSession, MessageFilter
from .choice import Choice, completed
from .pages import PAGE
from .row import Row, row_of
from .scope import Scope

# So many messages are looked at for a page of found sessions.
HITS = 200


@dataclass(frozen=True)
class Loaded:
    rows: Sequence[Row]
    total: int
    # The scope that has something: the chosen one, or a wider one.
    scope: int
    notices: Sequence[str] = ()
    # Where a search goes on.
    more: int | None = None
    did_you_mean: str | None = None


def first(db: SessionDB, choice: Choice, known: Sequence[Scope]) -> Loaded:
    """The first page, of the chosen scope or the next wider one that is not empty."""
    if choice.family is not None:
        return _family(db, choice.family, choice.scope)
    read = _found if choice.searching else _listed
    loaded = Loaded((), 0, choice.scope)
    for place in range(choice.scope, len(known)):
        loaded = read(db, choice, known, place, 0)
        if loaded.rows:
            return loaded
    if choice.searching:
        return _guessed(db, choice, known, loaded)
    return replace(loaded, scope=choice.scope)


def page(db: SessionDB, choice: Choice, known: Sequence[Scope], scope: int, offset: int) -> Loaded:
    """A further page of the same."""
    read = _found if choice.searching else _listed
    return read(db, choice, known, scope, offset)


def sources(db: SessionDB) -> list[tuple[str, int]]:
    """Every source with its number of sessions, the largest first."""
    counted: Mapping[str, int] = db.stats()["sources"]
    return sorted(counted.items(), key=lambda each: (-each[1], each[0]))


def _listed(db: SessionDB, choice: Choice, known: Sequence[Scope], scope: int, offset: int) -> Loaded:
    where = choice.where(known[scope])
    rows: Sequence[Mapping[str, Any]]
    if choice.order == "tokens":
        rows = db.top_sessions_by_tokens(offset + PAGE, where=where)[offset:]
    else:
        rows = db.list_sessions_rich(None, where.exclude_sources, PAGE, offset, order_by=choice.order, where=where)
    return Loaded([row_of(row) for row in rows], db.session_count(where=where), scope)


def _found(db: SessionDB, choice: Choice, known: Sequence[Scope], scope: int, offset: int) -> Loaded:
    found = db.search_messages(
        completed(choice.query), limit=HITS, offset=offset, order=choice.search_order, where=choice.where(known[scope])
    )
    rows = _sessions(db, found)
    more = offset + len(found) if len(found) == HITS else None
    return Loaded(rows, len(rows), scope, found.notices, more)


def _guessed(db: SessionDB, choice: Choice, known: Sequence[Scope], nothing: Loaded) -> Loaded:
    """Sessions that hold some of the words, as `sessiondb search` finds them."""
    from ..cli import finding

    where = choice.where(known[-1])
    found = finding.find(db, finding.Wanted(choice.query, where, MessageFilter(), HITS // 4))
    rows = _sessions(db, found.hits)
    if rows:
        return Loaded(rows, len(rows), len(known) - 1)
    return replace(nothing, scope=choice.scope, did_you_mean=found.did_you_mean)


def _sessions(db: SessionDB, hits: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The sessions of the hits, in the order of their best; each with the hits it has."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for hit in hits:
        found.setdefault(hit["session_id"], []).append(hit)
    known = {row["id"]: row for row in _by_ids(db, list(found))}
    return [_found_row(known[name], of) for name, of in found.items() if name in known]


def _found_row(session: Mapping[str, Any], hits: Sequence[Mapping[str, Any]]) -> Row:
    said = [hit for hit in hits if hit["role"] != "title"]
    return row_of(
        session,
        snippet=(said or hits)[0]["snippet"],
        hits=tuple(hit["id"] for hit in said),
        partial=all(hit.get("partial", False) for hit in hits),
    )


def _family(db: SessionDB, session_id: str, scope: int) -> Loaded:
    from ..cli.tree import drawn

    family = db.family(session_id)
    first_words = {row["id"]: row["preview"] for row in _by_ids(db, [row["id"] for row in family])}
    rows = [
        row_of({**row, "preview": first_words.get(row["id"])}, branch=f"{branch}{row['relation']}: " if branch else "")
        for branch, row in drawn(family)
    ]
    return Loaded(rows, len(rows), scope)


def _by_ids(db: SessionDB, ids: Sequence[str]) -> list[ListedSession]:
    where = Filter(ids=tuple(ids), archived=None)
    return db.list_sessions_rich(limit=max(1, len(ids)), include_children=True, where=where)
