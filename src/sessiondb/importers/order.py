"""Sessions that come in from elsewhere stand where their time puts them, not where the import happened to put them.

Lists by activity follow the newest message of each session, by number. Numbers are given as messages arrive: an agent's
database would bring years of conversations in as the latest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from itertools import accumulate

from ..db import SessionDB
from ..models import Filter, SessionRow


def settle(db: SessionDB, brought: Collection[str]) -> None:
    """Give the sessions of an import their places among each other and among those that were here before."""
    if brought:
        places = placed(db.provider.session_facts(Filter()), brought)
        if places:
            db.provider.place_sessions(places)


def placed(sessions: Collection[SessionRow], brought: Collection[str]) -> dict[str, int]:
    """The places that change: those of the import in order of time, below whatever was active later."""
    ours = sorted((row for row in sessions if row["id"] in brought and row["last_message_id"]), key=_last_active)
    others = sorted((row for row in sessions if row["id"] not in brought and row["last_message_id"]), key=_last_active)
    times = list(map(_last_active, others))
    below = list(accumulate((row["last_message_id"] or 0 for row in reversed(others)), min))[::-1]
    found: dict[str, int] = {}
    for row, place in zip(ours, sorted(row["last_message_id"] or 0 for row in ours), strict=True):
        later = bisect_right(times, _last_active(row))
        wanted = min(place, below[later] - 1) if later < len(below) else place
        if wanted != row["last_message_id"]:
            found[row["id"]] = wanted
    return found


def _last_active(row: SessionRow) -> float:
    return row["last_active"] or row["started_at"]
