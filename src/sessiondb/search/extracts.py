"""What was run, where it lies, what was decided and what is open: found in messages, the newest first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from ..errors import Invalid
from ..models import Filter, MessageFilter
from .filters import KINDS
from .kinds import items

if TYPE_CHECKING:
    from ..db import SessionDB

DEADLINE = 5.0


class Extract(TypedDict):
    """One thing that was found, and where."""

    kind: str
    text: str
    message_id: int
    session_id: str
    role: str
    timestamp: float
    source: str
    title: str | None


@dataclass(frozen=True, slots=True)
class Extracts:
    """A page of finds; `next_before` continues it, and is None at the end."""

    items: Sequence[Extract]
    next_before: int | None
    notices: Sequence[str] = ()


def extracts(
    db: SessionDB,
    kinds: Sequence[str] = KINDS,
    *,
    where: Filter | None = None,
    messages: MessageFilter | None = None,
    limit: int = 50,
    before: int | None = None,
    deadline: float = DEADLINE,
) -> Extracts:
    """Things of these kinds, each once, of the newest messages first; `before` is the id of a message.

    Reads messages until there are `limit` things; at the deadline it stops and says so. All things of one message
    stand on one page.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise Invalid(f"unknown kind {unknown[0]!r}; use {', '.join(KINDS)}")
    end = time.monotonic() + deadline
    found: dict[tuple[str, str], Extract] = {}
    for message, session in db.provider.scan_messages(where or Filter(), messages or MessageFilter()):
        if before is not None and message["id"] >= before:
            continue
        if len(found) >= limit:
            return Extracts(list(found.values()), message["id"] + 1)
        if time.monotonic() > end:
            notice = f"stopped after {deadline:g} seconds; older messages were not read"
            return Extracts(list(found.values()), message["id"] + 1, (notice,))
        for item in items(message, kinds):
            found.setdefault(item, {
                "kind": item.kind,
                "text": item.text,
                "message_id": message["id"],
                "session_id": message["session_id"],
                "role": message["role"],
                "timestamp": message["timestamp"],
                "source": session["source"],
                "title": session["title"],
            })  # fmt: skip
    return Extracts(list(found.values()), None)
