"""Conversations that an older gateway's `sessions.json` knows: bound here to the sessions they had there.

The messages come by `sessiondb import`; this tells which chat goes on with which of them. What is bound already stays.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..bindings import Handover
from ..errors import Invalid
from ..models import SessionRow
from .keys import Key, Source, parse, session_key
from .router import Router
from .state import Saving
from .table import View
from .transcripts import read_index

_ORIGINS = ("hermes", "nanobot")


@dataclass
class Adopted:
    bound: list[str] = field(default_factory=list)
    # Key -> why it was left out.
    skipped: dict[str, str] = field(default_factory=dict)


def adopt(router: Router, directory: str | os.PathLike[str]) -> Adopted:
    """Bind the conversations of an index; calling it again changes nothing."""
    adopted = Adopted()
    for text, entry in read_index(directory).items():
        key = _key(router, text, entry)
        session = _session(router, str(entry["session_id"]))
        if key is None:
            adopted.skipped[text] = "not a key of a conversation"
        elif session is None:
            adopted.skipped[text] = f"session {entry['session_id']} is not in the store; import it first"
        elif _bind(router, key, session, entry):
            adopted.bound.append(text)
        else:
            adopted.skipped[text] = "bound already"
    return adopted


def _bind(router: Router, key: Key, session: SessionRow, entry: Mapping[str, Any]) -> bool:
    def bind(view: View) -> bool | None:
        if view.binding is not None:
            return False
        flushed = entry.get("expiry_finalized") or entry.get("memory_flushed")
        state = view.state.next(
            suspended=entry.get("suspended") is True,
            resume_pending=entry.get("resume_pending") is True,
            saving=Saving(session["id"], "idle", done=True) if flushed else None,
        )
        done = router.swap(view, state, session["id"], Handover(reopen=session["id"]), session["user_id"])
        return None if done is None else True

    return router.until_done(key, bind)


def _key(router: Router, text: str, entry: Mapping[str, Any]) -> Key | None:
    """The key of an entry: made anew of its origin, where that is known, for older texts do not tell a `:` in an id."""
    origin = entry.get("origin")
    if isinstance(origin, Mapping) and origin.get("platform"):
        known: dict[str, Any] = {name: origin.get(name) for name in Source.__slots__ if origin.get(name) is not None}
        try:
            return session_key(Source(**known), router.rules, canonical=router.canonical)
        except Invalid:
            return None
    return parse(text)


def _session(router: Router, session_id: str) -> SessionRow | None:
    provider = router.db.provider
    found = provider.get_session(session_id)
    for origin in _ORIGINS:
        found = found or provider.find_native(origin, session_id)
    return found
