"""Which session is meant: an id, the beginning of one, a title, `latest`, or -1, -2 … counted from the last active."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..db import SessionDB
from ..errors import Conflict, NotFound
from ..models import Filter, Page, SessionRow
from . import output
from .declare import COUNTED
from .text import cut, line, pad, width

# What tools write for themselves; shown when asked for.
HIDDEN_SOURCES = ("tool",)
LATEST = "latest"
_SHOWN = 10
_ALIKE = 5


class Ambiguous(Conflict):
    """Several sessions fit; `candidates` are shown below the sentence."""

    def __init__(self, sentence: str, candidates: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(sentence)
        self.candidates = candidates


class Unknown(NotFound):
    """No session fits; `candidates` are some with a similar title."""

    def __init__(self, sentence: str, candidates: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(sentence)
        self.candidates = candidates


def find_session(db: SessionDB, wanted: str) -> str:
    """The id of the session that is meant; of a title, the latest of its lineage. Raises Ambiguous or Unknown."""
    begun = db.provider.find_ids(wanted, _SHOWN + 1) if wanted else []
    if wanted in begun:
        return wanted
    titled = db.resolve_session_by_title(wanted)
    if titled is not None:
        return titled
    if len(begun) == 1:
        return begun[0]
    counted = re.fullmatch(COUNTED, "-1" if wanted == LATEST else wanted)
    if counted:
        return _counted(db, int(counted[1]))
    if begun:
        raise _ambiguous(wanted, begun, _rows(db, begun[:_SHOWN]))
    raise _unknown(db, wanted)


def find_sessions(db: SessionDB, words: Sequence[str]) -> list[str]:
    """The words together name one session, or else each names one; none twice. Raises Ambiguous or Unknown."""
    try:
        return [find_session(db, " ".join(words))]
    except NotFound:
        if len(words) < 2:
            raise
    return list(dict.fromkeys(find_session(db, word) for word in words))


def find_named(db: SessionDB, first: str, others: Sequence[str], *, leave: int) -> tuple[str, Sequence[str]]:
    """The session that the first word names, or a title that goes on after it; and the words that are left.

    Of several titles the longest is meant that leaves so many words. Raises Ambiguous or Unknown.
    """
    try:
        return find_session(db, first), others
    except NotFound:
        for taken in range(len(others) - leave, 0, -1):
            titled = db.resolve_session_by_title(" ".join((first, *others[:taken])))
            if titled is not None:
                return titled, others[taken:]
        raise


def find_deleted(db: SessionDB, wanted: str) -> SessionRow:
    """The session in the trash that is meant; of several with this id or title the last deleted."""
    trash = db.list_trash(limit=None)
    exact = [row for row in trash if wanted and wanted in (row["id"], row["title"])]
    counted = re.fullmatch(COUNTED, "-1" if wanted == LATEST else wanted)
    if exact or (counted and int(counted[1]) <= len(trash)):
        return exact[0] if exact else trash[int(counted[1]) - 1] if counted else trash[0]
    begun = [row for row in trash if wanted and row["id"].startswith(wanted)]
    if len({row["id"] for row in begun}) > 1:
        raise _ambiguous(wanted, [row["id"] for row in begun], begun[:_SHOWN])
    if not begun:
        raise Unknown(
            f"nothing in the trash with the id, prefix or title {wanted!r}; `sessiondb list --trash` shows it"
        )
    return begun[0]


def find_all_deleted(db: SessionDB, words: Sequence[str]) -> list[SessionRow]:
    """As `find_sessions`, in the trash."""
    try:
        return [find_deleted(db, " ".join(words))]
    except NotFound:
        if len(words) < 2:
            raise
    found = [find_deleted(db, word) for word in words]
    return list({row["id"]: row for row in found}.values())


def latest(db: SessionDB, number: int = 1, *, where: Filter | None = None) -> SessionRow | None:
    """The last active session, or the second, third …, as `list` shows them; None when there are fewer."""
    hidden = None if where and where.sources else HIDDEN_SOURCES
    chosen = where or Filter(archived=False)
    found = db.list_sessions_rich(None, hidden, 1, number - 1, order_by="activity", where=chosen)
    return found[0] if found else None


def _counted(db: SessionDB, number: int) -> str:
    found = latest(db, number)
    if found is None:
        there_are = "no sessions yet" if number == 1 else f"fewer than {number} sessions"
        raise Unknown(f"there are {there_are}; `sessiondb list` shows what there is")
    return found["id"]


def _rows(db: SessionDB, ids: Sequence[str]) -> list[Mapping[str, Any]]:
    return list(db.provider.list_sessions(Filter(ids=tuple(ids)), Page(None), "activity"))


def _ambiguous(wanted: str, ids: Sequence[str], shown: Sequence[Mapping[str, Any]]) -> Ambiguous:
    number = f"{len(ids)}" if len(ids) <= _SHOWN else f"more than {_SHOWN}"
    return Ambiguous(f"{number} sessions begin with {wanted!r}; give more of the id", shown)


def _unknown(db: SessionDB, wanted: str) -> Unknown:
    alike: Sequence[Mapping[str, Any]] = ()
    if wanted.strip():
        alike = db.provider.list_sessions(Filter(title_contains=wanted.strip()), Page(_ALIKE), "activity")
    if alike:
        return Unknown(f"no session with the id, prefix or title {wanted!r}; similar titles:", alike)
    return Unknown(f"no session with the id, prefix or title {wanted!r}; `sessiondb list --all` shows what there is")


def show_candidates(rows: Sequence[Mapping[str, Any]]) -> None:
    """Below a complaint: the sessions that may have been meant."""
    now = time.time()
    widest = max(width(line(row["id"])) for row in rows)
    for row in rows:
        when = output.ago(row.get("last_active") or row.get("started_at"), now)
        name = row.get("title") or row.get("preview") or "—"
        print(f"  {pad(line(row['id']), widest)}  {pad(when, 10)}  {cut(line(name), 60)}", file=sys.stderr)
