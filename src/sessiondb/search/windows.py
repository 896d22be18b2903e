"""Stretches of sessions around hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from ..errors import NotFound
from ..models import MessageRow

if TYPE_CHECKING:
    from ..db import SessionDB


class Window(TypedDict):
    """A stretch of one session around hits."""

    session_id: str
    hit_ids: list[int]
    messages: list[MessageRow]


def windows_of(db: SessionDB, hits: Sequence[Mapping[str, Any]], size: int, most: int | None) -> list[Window]:
    """Stretches around hits, in the order of their best ones; at most `most`. Those that touch are one."""
    windows: list[Window] = []
    for hit in hits:
        if len(windows) == most:
            break
        try:
            around = db.get_messages_around(hit["session_id"], hit["id"], window=size)
        except NotFound:
            # Deleted since it was found.
            continue
        fresh: Window = {"session_id": hit["session_id"], "hit_ids": [hit["id"]], "messages": around}
        windows = _joined(windows, fresh)
    return windows


def _joined(windows: Sequence[Window], fresh: Window) -> list[Window]:
    """The windows with one more; those that it touches become one with it, in the place of the first."""
    touched = [window for window in windows if _touch(window, fresh)]
    if not touched:
        return [*windows, fresh]
    together = _merged([*touched, fresh])
    kept = [together if window is touched[0] else window for window in windows]
    return [window for window in kept if not any(window is each for each in touched)]


def _touch(one: Window, other: Window) -> bool:
    if one["session_id"] != other["session_id"]:
        return False
    (first, last), (begin, end) = _reach(one), _reach(other)
    return begin <= last + 1 and first <= end + 1


def _reach(window: Window) -> tuple[int, int]:
    return window["messages"][0]["seq"] or 0, window["messages"][-1]["seq"] or 0


def _merged(windows: Sequence[Window]) -> Window:
    rows = {row["id"]: row for window in windows for row in window["messages"]}
    return {
        "session_id": windows[0]["session_id"],
        "hit_ids": [each for window in windows for each in window["hit_ids"]],
        "messages": sorted(rows.values(), key=lambda row: row["seq"] or 0),
    }
