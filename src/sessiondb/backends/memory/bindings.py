"""Bindings: swapped when nobody was faster."""

from __future__ import annotations

from ...bindings import NOTHING, Binding, Handover, same
from ...errors import AlreadyExists
from .admission import new_session
from .conversation import store
from .tables import MemoryBase, Tables, read, write


class Bindings(MemoryBase):
    @read
    def get_binding(self, session_key: str) -> Binding | None:
        return self.tables.bindings.get(session_key)

    @read
    def list_bindings(self, *, after: str = "", limit: int = 500) -> list[Binding]:
        bindings = self.tables.bindings
        return [bindings[key] for key in sorted(bindings) if key > after][:limit]

    @write
    def swap_binding(self, old: Binding | None, new: Binding, handover: Handover = NOTHING) -> int | None:
        tables = self.tables
        if not same(tables.bindings.get(new.session_key), old):
            return None
        _check(tables, new.active_session_id, handover)
        _hand_over(tables, new, handover)
        tables.bindings[new.session_key] = new
        active = new.active_session_id
        return 0 if active is None else int(tables.session(active).values["last_seq"])

    @write
    def drop_binding(self, binding: Binding) -> bool:
        bindings = self.tables.bindings
        if not same(bindings.get(binding.session_key), binding):
            return False
        return bindings.pop(binding.session_key, None) is not None


def _check(tables: Tables, active: str | None, handover: Handover) -> None:
    created = None if handover.create is None else handover.create["id"]
    for needed in (handover.left and handover.left[0], handover.reopen):
        if needed is not None:
            tables.session(needed)
    if created in tables.sessions:
        raise AlreadyExists(f"session {created!r} exists; begin another")
    if active is not None and active != created:
        tables.session(active)


def _hand_over(tables: Tables, new: Binding, handover: Handover) -> None:
    if handover.left is not None:
        store(tables, tables.session(handover.left[0]), handover.left[1])
    if handover.end is not None:
        _end(tables, *handover.end)
    if handover.reopen is not None:
        tables.session(handover.reopen).values.update(ended_at=None, end_reason=None, session_key=new.session_key)
    if handover.create is not None:
        created = new_session(tables, handover.create)
        tables.sessions[created.id] = created
    if handover.messages and new.active_session_id is not None:
        store(tables, tables.session(new.active_session_id), handover.messages)


def _end(tables: Tables, session_id: str, reason: str, ended_at: float) -> None:
    session = tables.sessions.get(session_id)
    if session is not None and session.values["ended_at"] is None:
        session.values.update(ended_at=ended_at, end_reason=reason)
