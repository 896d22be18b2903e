"""How models name a session: by its id, the beginning of it, or its title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NotFound
from ..models import SessionRow

if TYPE_CHECKING:
    from ..db import SessionDB


def found_session(db: SessionDB, wanted: str) -> SessionRow:
    """The session of this name; of a title the newest of its lineage. Raises NotFound."""
    resolved = db.resolve_session_id(wanted) or db.resolve_session_by_title(wanted)
    session = db.get_session(resolved) if resolved else None
    if session is None:
        raise NotFound(f"no session {wanted!r}; session_search without arguments shows the recent ones")
    return session
