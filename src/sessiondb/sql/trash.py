"""The trash: sessions with all they own, moved aside and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..errors import AlreadyExists, NotFound
from ..models import MEDIA_REF_COLUMNS, MESSAGE_COLUMNS, SESSION_COLUMNS, TOOL_CALL_COLUMNS, Filter, Page, SessionRow
from ..provider import SessionDBProvider
from . import rows
from .adopt import adopt_all
from .driver import Driver, Tx, read, write
from .escape import unescape
from .filters import sessions_where
from .sessions import (
    ADD_TAG,
    CONTINUATION,
    CREATE,
    GET,
    NEWEST_MESSAGE,
    STATE,
    TITLE_HOLDER,
    check_title,
    next_title,
    tags_of,
)

_KEPT = tuple(name for name in SESSION_COLUMNS if name != "deleted_at")
_OWNED = {"messages": MESSAGE_COLUMNS, "tool_calls": TOOL_CALL_COLUMNS, "media_refs": MEDIA_REF_COLUMNS}

BURY_SESSION = f"""
    INSERT INTO trash_sessions ({", ".join(_KEPT)}, deleted_at, tags, children)
    SELECT {", ".join(_KEPT)}, :deleted_at, :tags, :children
      FROM sessions
     WHERE id = :id
"""
TRASH = f"""
    SELECT {rows.SESSION_LIST}
      FROM trash_sessions
     ORDER BY deleted_at DESC, trash_id
     {{page}}
"""
NEWEST = f"""
    SELECT {rows.SESSION_LIST}, trash_id, tags, children
      FROM trash_sessions
     WHERE id = :id
     ORDER BY deleted_at DESC, trash_id DESC
     LIMIT 1
"""
# Children in the trash count: whichever of the two comes back last finds the other.
CHILDREN_OF = """
    SELECT id
      FROM sessions
     WHERE parent_session_id = :id
     UNION
    SELECT id
      FROM trash_sessions
     WHERE parent_session_id = :id
"""
ORPHAN = """
    UPDATE sessions
       SET parent_session_id = NULL
     WHERE parent_session_id = :id
"""
ADOPT_CHILD = """
    UPDATE sessions
       SET parent_session_id = :parent
     WHERE id = :id
       AND parent_session_id IS NULL
"""
ADOPT_BURIED_CHILD = """
    UPDATE trash_sessions
       SET parent_session_id = :parent
     WHERE id = :id
       AND (parent_session_id IS NULL OR parent_session_id = :former)
"""
RAISE_MESSAGES = f"""
    INSERT INTO messages ({", ".join(name for name in MESSAGE_COLUMNS if name != "id")})
    SELECT {", ".join(":session_id" if name == "session_id" else name for name in MESSAGE_COLUMNS if name != "id")}
      FROM trash_messages
     WHERE trash_id = :trash_id
     ORDER BY seq
"""
LAST_RAISED = """
    SELECT MAX(id)
      FROM messages
     WHERE session_id = :session_id
"""
SET_LAST_MESSAGE = """
    UPDATE sessions
       SET last_message_id = :last_message_id
     WHERE id = :session_id
"""
OLD_ENTRIES = """
    SELECT trash_id
      FROM trash_sessions
     WHERE deleted_at < :before
"""


def _bury_owned(table: str, columns: Sequence[str]) -> str:
    names = ", ".join(columns)
    return f"""
    INSERT INTO trash_{table} (trash_id, {names})
    SELECT :trash_id, {names}
      FROM {table}
     WHERE session_id = :id
    """


def _raise_owned(table: str, columns: Sequence[str]) -> str:
    """Side rows come back with new ids, each to the message at the same position."""
    rest = [name for name in columns if name not in ("id", "session_id", "message_id")]
    return f"""
    INSERT INTO {table} (session_id, message_id, {", ".join(rest)})
    SELECT :session_id, m.id, {", ".join(f"x.{name}" for name in rest)}
      FROM trash_{table} x
      JOIN trash_messages t ON t.trash_id = x.trash_id AND t.id = x.message_id
      JOIN messages m ON m.session_id = :session_id AND m.seq = t.seq
     WHERE x.trash_id = :trash_id
     ORDER BY x.id
    """


class TrashPrimitives(SessionDBProvider):
    driver: Driver

    @write
    def delete_sessions(self, tx: Tx, where: Filter, *, deleted_at: float, hard: bool = False) -> list[str]:
        chosen = sessions_where(where)
        found = tx.rows(f"SELECT s.id FROM sessions s WHERE {chosen.sql} ORDER BY s.id {{for_update}}", chosen.params)
        ids = sorted(unescape(row[0]) for row in found)
        children = {name: sorted(unescape(row[0]) for row in tx.rows(CHILDREN_OF, {"id": name})) for name in ids}
        if not hard:
            for name in ids:
                _bury(tx, name, deleted_at, children[name])
        for name in ids:
            tx.run(ORPHAN, {"id": name})
        for name in ids:
            _remove(tx, name)
        return ids

    @read
    def list_trash(self, tx: Tx, page: Page) -> list[SessionRow]:
        return rows.sessions(tx.rows(TRASH, {"limit": -1 if page.limit is None else page.limit, "offset": page.offset}))

    @write
    def restore(self, tx: Tx, session_id: str, *, new_id: str | None = None, new_title: bool = False) -> str:
        entry = tx.row(NEWEST, {"id": session_id})
        if entry is None:
            raise NotFound(f"no session {session_id!r} in the trash; `sessiondb list --trash` shows what there is")
        target = new_id or session_id
        if tx.row(STATE, {"id": target}) is not None:
            raise AlreadyExists(f"session {target!r} exists; give new_id= to restore beside it")
        trash_id, tags, children = entry[-3:]
        tx.run(CREATE, _revived(tx, rows.named(SESSION_COLUMNS, entry), target, new_title))
        _raise(tx, target, trash_id)
        for tag in json.loads(tags):
            tx.run(ADD_TAG, {"id": target, "tag": tag})
        for child in json.loads(children):
            if child != target:
                tx.run(ADOPT_CHILD, {"id": child, "parent": target})
                tx.run(ADOPT_BURIED_CHILD, {"id": child, "parent": target, "former": session_id})
        _forget(tx, trash_id)
        return target

    @write
    def empty_trash(self, tx: Tx, deleted_before: float) -> int:
        entries = tx.rows(OLD_ENTRIES, {"before": deleted_before})
        for (trash_id,) in entries:
            _forget(tx, trash_id)
        return len(entries)


def _bury(tx: Tx, session_id: str, deleted_at: float, children: list[str]) -> None:
    # Rows without a position could not be put back in their place.
    adopt_all(tx, session_id)
    trash_id = tx.insert(
        BURY_SESSION,
        {
            "id": session_id,
            "deleted_at": deleted_at,
            "tags": json.dumps(tags_of(tx, session_id)),
            "children": json.dumps(children),
        },
    )
    for table, columns in _OWNED.items():
        tx.run(_bury_owned(table, columns), {"id": session_id, "trash_id": trash_id})


def _remove(tx: Tx, session_id: str) -> None:
    for table in ("tool_calls", "media_refs", "tags", "messages"):
        tx.run(f"DELETE FROM {table} WHERE session_id = :id", {"id": session_id})
    tx.run("DELETE FROM sessions WHERE id = :id", {"id": session_id})


def _revived(tx: Tx, values: dict[str, Any], target: str, new_title: bool) -> dict[str, Any]:
    title = values["title"]
    if title is not None and new_title:
        title = title if tx.row(TITLE_HOLDER, {"title": title}) is None else next_title(tx, title)
    elif title is not None:
        check_title(tx, title, target)
    newest = tx.row(NEWEST_MESSAGE)
    values |= {"id": target, "title": title, "deleted_at": None, "last_message_id": newest[0] if newest else 0}
    parent = values["parent_session_id"]
    if parent is not None and (parent == target or tx.row(GET, {"id": parent}) is None):
        values["parent_session_id"] = None
    elif parent is not None and values["relation"] == "compression" and tx.row(CONTINUATION, {"id": parent}):
        # The conversation went on elsewhere meanwhile; what comes back is a branch of it.
        values["relation"] = "fork"
    return values


def _raise(tx: Tx, session_id: str, trash_id: int) -> None:
    params = {"session_id": session_id, "trash_id": trash_id}
    tx.run(RAISE_MESSAGES, params)
    last = tx.row(LAST_RAISED, params)
    if last is not None and last[0] is not None:
        tx.run(SET_LAST_MESSAGE, {"session_id": session_id, "last_message_id": last[0]})
    for table in ("tool_calls", "media_refs"):
        tx.run(_raise_owned(table, _OWNED[table]), params)


def _forget(tx: Tx, trash_id: int) -> None:
    for table in (*_OWNED, "sessions"):
        tx.run(f"DELETE FROM trash_{table} WHERE trash_id = :trash_id", {"trash_id": trash_id})
