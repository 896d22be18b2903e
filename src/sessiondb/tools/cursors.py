"""Where an answer goes on: an opaque text, so that nobody counts on what is in it."""

from __future__ import annotations

import base64
import json
from typing import Any

from ..errors import Invalid


def pack(kind: str, place: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([kind, place]).encode()).decode().rstrip("=")


def unpack(kind: str, cursor: str | None) -> int | None:
    """The place of a cursor of this kind; None without a cursor. Raises Invalid for another's."""
    if not cursor:
        return None
    try:
        found: Any = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        found = None
    if not isinstance(found, list) or len(found) != 2 or found[0] != kind or not isinstance(found[1], int):
        raise Invalid(f"not a cursor of this tool: {cursor[:80]!r}; leave it out to begin again")
    return found[1]
