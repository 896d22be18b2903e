"""Deletion, and the way back."""

from __future__ import annotations

from collections import defaultdict

from ... import titles
from ...errors import AlreadyExists, NotFound
from ...models import Filter, Page, SessionRow
from ...rows import session_row
from .selection import cut, select
from .tables import Deleted, MemoryBase, Session, Tables, read, write


class Trash(MemoryBase):
    @write
    def delete_sessions(self, where: Filter, *, deleted_at: float, hard: bool = False) -> list[str]:
        tables = self.tables
        children = _children_by_parent(tables)
        going = sorted(each.id for each in select(tables, where))
        for session_id in going:
            session = tables.sessions.pop(session_id)
            if not hard:
                session.values["deleted_at"] = deleted_at
                tables.trash.append(Deleted(session, children[session_id]))
        for session_id in going:
            _set_parent(tables, children[session_id], session_id, None)
        return going

    @read
    def list_trash(self, page: Page) -> list[SessionRow]:
        # The sort is stable, with reverse too: deleted at the same time, the first to go comes first.
        entries = sorted(self.tables.trash, key=_deleted_at, reverse=True)
        return [session_row(dict(entry.session.values)) for entry in cut(entries, page)]

    @write
    def restore(self, session_id: str, *, new_id: str | None = None, new_title: bool = False) -> str:
        tables = self.tables
        entry = _last_deleted(tables, session_id)
        target = session_id if new_id is None else new_id
        if target in tables.sessions:
            raise AlreadyExists(f"session {target!r} exists; give new_id= to restore beside it")
        title = _free_title(tables, entry.session.values["title"], new_title)
        parent = entry.session.values["parent_session_id"]
        if parent not in tables.sessions:
            parent = None
        elif entry.session.values["relation"] == "compression" and tables.continuation(parent):
            # The conversation went on elsewhere meanwhile; what comes back is a branch of it.
            entry.session.values["relation"] = "fork"
        entry.session.values.update(id=target, title=title, deleted_at=None, parent_session_id=parent)
        _renumber(tables, entry.session)
        tables.trash.remove(entry)
        tables.sessions[target] = entry.session
        _set_parent(tables, entry.children, None, target)
        for buried in tables.trash:
            if buried.session.id in entry.children and buried.session.values["parent_session_id"] in (None, session_id):
                buried.session.values["parent_session_id"] = target
        return target

    @write
    def empty_trash(self, deleted_before: float) -> int:
        tables = self.tables
        kept = [entry for entry in tables.trash if _deleted_at(entry) >= deleted_before]
        destroyed = len(tables.trash) - len(kept)
        tables.trash = kept
        return destroyed


def _deleted_at(entry: Deleted) -> float:
    return float(entry.session.values["deleted_at"])


def _children_by_parent(tables: Tables) -> defaultdict[str, list[str]]:
    children: defaultdict[str, list[str]] = defaultdict(list)
    # Children in the trash count: whichever of the two comes back last finds the other.
    for session in (*tables.sessions.values(), *(entry.session for entry in tables.trash)):
        children[session.values["parent_session_id"]].append(session.id)
    return children


def _set_parent(tables: Tables, children: list[str], old: str | None, new: str | None) -> None:
    """Give those of the children that are there, and still have the old parent, the new one."""
    for child in filter(None, map(tables.sessions.get, children)):
        if child.values["parent_session_id"] == old:
            child.values["parent_session_id"] = new


def _last_deleted(tables: Tables, session_id: str) -> Deleted:
    entries = [entry for entry in reversed(tables.trash) if entry.session.id == session_id]
    if not entries:
        raise NotFound(f"no session {session_id!r} in the trash; list the trash to see what can be restored")
    return max(entries, key=_deleted_at)


def _free_title(tables: Tables, title: str | None, new_title: bool) -> str | None:
    if new_title and title in tables.titles():
        base, _ = titles.split(title)
        return titles.next_in_lineage(base, tables.titles())
    tables.check_title(title)
    return title


def _renumber(tables: Tables, session: Session) -> None:
    """New ids for all rows, in the old order; positions and terms stay."""
    message_ids = {}
    for message in session.messages:
        message_ids[message["id"]] = tables.next_id("messages")
        message.update(id=message_ids[message["id"]], session_id=session.id)
    for table, rows in (("tool_calls", session.tool_calls), ("media_refs", session.media_refs)):
        for row in rows:
            row.update(id=tables.next_id(table), session_id=session.id, message_id=message_ids[row["message_id"]])
    session.values["last_message_id"] = tables.last_ids["messages"]
