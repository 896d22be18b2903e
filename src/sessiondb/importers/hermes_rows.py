"""What columns of Hermes' tables mean, whichever way its rows come in; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Before content that is no text stands what no text begins with; later versions avoid the NUL.
_MARKS = ("\0json:", "\1json:")
# Parents that ended so were followed, not helped.
_RESETS = frozenset({"session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired"})


def parts(content: Any) -> list[Any] | dict[str, Any] | None:
    """The parts of a message that was more than text, such as one with a picture; None for a text."""
    if not isinstance(content, str) or not content.startswith(_MARKS):
        return None
    found = decoded(content[len(_MARKS[0]) :])
    return found if isinstance(found, list | dict) else None


def relation(row: Mapping[str, Any], parents_end: Any) -> str:
    """What a child is to its parent, told by its marks and by how the parent ended."""
    marks = decoded(row.get("model_config"))
    marks = marks if isinstance(marks, dict) else {}
    if "_branched_from" in marks:
        return "fork"
    if "_delegate_from" in marks:
        return "subagent"
    if "_reset_from" in marks:
        return "reset"
    if parents_end == "compression":
        return "compression"
    return "reset" if parents_end in _RESETS else "subagent"


def decoded(value: Any) -> Any:
    """JSON that a column holds; a text that is none stays as it is."""
    if not isinstance(value, str) or not value:
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
