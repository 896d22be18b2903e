"""The shapes of what is found again. Only type checkers read this: making these classes would slow every search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from .windows import Window


class Recalled(TypedDict):
    """A message found again; `partial` when it has not all words of the question as typed."""

    id: int
    session_id: str
    role: str
    timestamp: float
    score: float
    partial: bool
    snippet: str
    source: str
    title: str | None


class RecalledSession(TypedDict):
    """A conversation: the root of its lineage; `latest_session_id`, hits and windows may be of any session of it."""

    session_id: str
    latest_session_id: str
    title: str | None
    source: str
    started_at: float
    last_active: float | None
    message_count: int
    preview: str
    hits: list[Mapping[str, Any]]
    windows: list[Window]
