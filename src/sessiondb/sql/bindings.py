"""Bindings: read, swapped, dropped."""

from __future__ import annotations

from collections.abc import Sequence

from ..bindings import BINDING_COLUMNS, NOTHING, Binding, Handover, same
from ..errors import AlreadyExists
from ..models import Draft
from ..provider import SessionDBProvider
from . import rows
from .adopt import LEDGER, adopt_all
from .appends import append_many, no_session
from .driver import Driver, Row, Tx, read, write
from .sessions import insert_session

_COLUMNS = ", ".join(BINDING_COLUMNS)
GET = f"""
    SELECT {_COLUMNS}
      FROM gateway_bindings
     WHERE session_key = :session_key
"""
GET_FOR_UPDATE = GET + "    {for_update}\n"
LIST = f"""
    SELECT {_COLUMNS}
      FROM gateway_bindings
     WHERE session_key > :after
     ORDER BY session_key
     LIMIT :limit
"""
INSERT = f"""
    INSERT INTO gateway_bindings ({_COLUMNS})
    VALUES ({", ".join(f":{name}" for name in BINDING_COLUMNS)})
"""
UPDATE = f"""
    UPDATE gateway_bindings
       SET {", ".join(f"{name} = :{name}" for name in BINDING_COLUMNS if name != "session_key")}
     WHERE session_key = :session_key
"""
DROP = """
    DELETE FROM gateway_bindings
     WHERE session_key = :session_key
"""
END = """
    UPDATE sessions
       SET ended_at = :ended_at, end_reason = :end_reason
     WHERE id = :id
       AND ended_at IS NULL
"""
REOPEN = """
    UPDATE sessions
       SET ended_at = NULL, end_reason = NULL, session_key = :session_key
     WHERE id = :id
"""


class BindingPrimitives(SessionDBProvider):
    driver: Driver

    @read
    def get_binding(self, tx: Tx, session_key: str) -> Binding | None:
        return _binding(tx.row(GET, {"session_key": session_key}))

    @read
    def list_bindings(self, tx: Tx, *, after: str = "", limit: int = 500) -> list[Binding]:
        return [Binding(**rows.named(BINDING_COLUMNS, row)) for row in tx.rows(LIST, {"after": after, "limit": limit})]

    @write
    def swap_binding(self, tx: Tx, old: Binding | None, new: Binding, handover: Handover = NOTHING) -> int | None:
        stored = _binding(tx.row(GET_FOR_UPDATE, {"session_key": new.session_key}))
        if not same(stored, old):
            return None
        tx.run(INSERT if stored is None else UPDATE, {name: getattr(new, name) for name in BINDING_COLUMNS})
        _hand_over(tx, new, handover)
        return 0 if new.active_session_id is None else _position(tx, new.active_session_id)

    @write
    def drop_binding(self, tx: Tx, binding: Binding) -> bool:
        key = {"session_key": binding.session_key}
        return same(_binding(tx.row(GET_FOR_UPDATE, key)), binding) and tx.run(DROP, key) > 0


def _binding(row: Row | None) -> Binding | None:
    return None if row is None else Binding(**rows.named(BINDING_COLUMNS, row))


def _hand_over(tx: Tx, new: Binding, handover: Handover) -> None:
    if handover.left is not None:
        _append(tx, handover.left[0], handover.left[1])
    if handover.end is not None:
        session_id, reason, ended_at = handover.end
        tx.run(END, {"id": session_id, "end_reason": reason, "ended_at": ended_at})
    if handover.reopen is not None and not tx.run(REOPEN, {"id": handover.reopen, "session_key": new.session_key}):
        raise no_session(handover.reopen)
    if handover.create is not None and not insert_session(tx, handover.create, (), ()):
        raise AlreadyExists(f"session {handover.create['id']!r} exists; begin another")
    if handover.messages and new.active_session_id is not None:
        _append(tx, new.active_session_id, handover.messages)


def _append(tx: Tx, session_id: str, messages: Sequence[Draft]) -> None:
    adopt_all(tx, session_id)
    append_many(tx, session_id, messages, None)


def _position(tx: Tx, session_id: str) -> int:
    found = tx.row(LEDGER, {"session_id": session_id})
    if found is None:
        raise no_session(session_id)
    return int(found[0])
