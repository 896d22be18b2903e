"""Titles that are unique per person: each is a row of its own beside the bindings, so the store decides who is first.

The session keeps a title that is unique over the store, with a number where somebody else was first; the name that the
person chose is in its metadata, and that is the one they see.
"""

from __future__ import annotations

import json
import time
from hashlib import sha256
from typing import Any

from ..bindings import Binding
from ..db import SessionDB
from ..errors import Busy, TitleTaken
from ..models import ListedSession
from .keys import Key

NAME = "title"
_TRIES = 50
# A name is claimed before it is written into the session; seconds until a claim without one counts as left over.
_SETTLING = 60.0


def owner(key: Key, user_id: str | None) -> str:
    """Whose titles these are: the person's on this platform and profile; where none is known, the chat's."""
    return f"{key.prefix}{key.text if user_id is None or key.shared else f':{user_id}'}"


def _row(whose: str, title: str) -> str:
    text = json.dumps([whose, title])
    return f"{NAME}:{sha256(text.encode()).hexdigest()}"


def claim(db: SessionDB, whose: str, title: str, session_id: str) -> None:
    """Make the title this session's. Raises TitleTaken when another session of the same person has it."""
    text = _row(whose, title)
    for _ in range(_TRIES):
        held = db.provider.get_binding(text)
        if held is not None and held.active_session_id == session_id:
            return
        now = time.time()
        if held is not None and _is_held(db, held, title, now):
            raise TitleTaken(f"the title {title!r} is taken; choose another")
        state = json.dumps({"rev": 1 if held is None else json.loads(held.reset_state)["rev"] + 1})
        new = Binding(text, NAME, NAME, None, None, None, session_id, state, now, now)
        if db.provider.swap_binding(held, new) is not None:
            return
    raise Busy(f"the title {title!r} changed hands {_TRIES} times meanwhile; try again")


def release(db: SessionDB, whose: str, title: str, session_id: str) -> None:
    held = db.provider.get_binding(_row(whose, title))
    if held is not None and held.active_session_id == session_id:
        db.provider.drop_binding(held)


def _is_held(db: SessionDB, held: Binding, title: str, now: float) -> bool:
    """A session that is gone, or has had another name for a while, holds nothing."""
    session = db.get_session(held.active_session_id or "")
    return session is not None and (chosen(session["metadata"]) == title or abs(now - held.updated_at) < _SETTLING)


def rename(db: SessionDB, whose: str, session: ListedSession, title: str | None) -> None:
    """Give a session the name that a person chose, or take it away. Raises TitleTaken."""
    session_id, before = session["id"], chosen(session["metadata"])
    if title is not None:
        claim(db, whose, title, session_id)
    metadata = dict(session["metadata"]) if isinstance(session["metadata"], dict) else {}
    metadata.pop(NAME, None)
    db.update_session(session_id, metadata={**metadata, NAME: title} if title is not None else metadata)
    _number(db, session_id, title)
    if before is not None and before != title:
        release(db, whose, before, session_id)


def _number(db: SessionDB, session_id: str, title: str | None) -> None:
    """The title over the whole store: the next number, where others were first."""
    for _ in range(_TRIES):
        free = None if title is None else db.get_next_title_in_lineage(title)
        try:
            db.set_session_title(session_id, free)
        except TitleTaken:
            # Somebody took the number since it was counted.
            continue
        return


def chosen(metadata: Any) -> str | None:
    """The name that the person gave."""
    name = metadata.get(NAME) if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else None


def as_seen(row: ListedSession) -> ListedSession:
    name = chosen(row["metadata"])
    return row if name is None else {**row, "title": name}
