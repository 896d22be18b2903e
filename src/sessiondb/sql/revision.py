"""Texts changed where they stand, in the store and in the trash; terms and ledgers follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import ledger
from ..drafts import revised
from ..models import MEDIA_REF_COLUMNS, MESSAGE_COLUMNS, SESSION_COLUMNS, TOOL_CALL_COLUMNS, Draft
from ..provider import Change, SessionDBProvider
from ..rows import summary
from . import appends, merges, rows
from .adopt import LEDGER, adopt_all
from .driver import Driver, Tx, read, write
from .filters import marks
from .messages import MEDIA

PLACED_AT = f"""
    SELECT {rows.MESSAGE_LIST}
      FROM messages
     WHERE session_id = :session_id
       AND seq IN (%s)
     ORDER BY seq
"""
BURIED = """
    SELECT trash_id
      FROM trash_sessions
     ORDER BY trash_id
"""
BURIED_SESSION = f"""
    SELECT {rows.SESSION_LIST}
      FROM trash_sessions
     WHERE trash_id = :trash_id
"""
BURIED_ROWS = """
    SELECT %s
      FROM trash_%s
     WHERE trash_id = :trash_id
     ORDER BY id
"""
_BATCH = 500


class RevisionPrimitives(SessionDBProvider):
    driver: Driver

    @write
    def revise(self, tx: Tx, session_id: str, positions: Sequence[int], change: Change) -> int:
        adopt_all(tx, session_id)
        found = tx.row(LEDGER, {"session_id": session_id})
        if found is None:
            raise appends.no_session(session_id)
        media = _media(tx, session_id, change)
        pairs = []
        for start in range(0, len(positions), _BATCH):
            pairs += _pairs(tx, session_id, positions[start : start + _BATCH], change, media)
        merges.rewrite(tx, session_id, found[1], pairs, as_activity=False)
        return len(pairs)

    def revise_trash(self, change: Change) -> int:
        return sum(self._revise_buried(trash_id, change) for trash_id in self._buried())

    @read
    def _buried(self, tx: Tx) -> list[int]:
        return [row[0] for row in tx.rows(BURIED)]

    @write
    def _revise_buried(self, tx: Tx, trash_id: int, change: Change) -> int:
        found = tx.row(BURIED_SESSION, {"trash_id": trash_id})
        if found is None:
            return 0
        session = rows.named(SESSION_COLUMNS, found)
        total, results, changed = _revise_messages(tx, trash_id, session["ledger"] or 0, change)
        own = {**change("sessions", session), **({"ledger": total} if changed else {})}
        _set(tx, "trash_sessions", own, {"trash_id": trash_id})
        changed += _revise_calls(tx, trash_id, results, change)
        for row in _buried_rows(tx, trash_id, "media_refs", MEDIA_REF_COLUMNS):
            changed += _set(tx, "trash_media_refs", change("media_refs", row), {"trash_id": trash_id, "id": row["id"]})
        return int(bool(own) or bool(changed))


def _media(tx: Tx, session_id: str, change: Change) -> dict[int, list[dict[str, Any]]]:
    """The media of each message, changed already."""
    kept: dict[int, list[dict[str, Any]]] = {}
    for found in tx.rows(MEDIA, {"session_id": session_id}):
        row = rows.named(MEDIA_REF_COLUMNS, found)
        changes = change("media_refs", row)
        _set(tx, "media_refs", changes, {"id": row["id"]})
        kept.setdefault(row["message_id"], []).append({**row, **changes})
    return kept


def _pairs(
    tx: Tx, session_id: str, positions: Sequence[int], change: Change, media: Mapping[int, list[dict[str, Any]]]
) -> list[tuple[merges.Stored, Draft]]:
    names, params = marks("seq", positions)
    pairs = []
    for found in tx.rows(PLACED_AT % names, params | {"session_id": session_id}):
        row = rows.stored_message(found)
        changes = change("messages", row)
        if changes:
            draft = revised({**row, **changes}, media.get(row["id"], ()))
            pairs.append((merges.Stored((None, row["id"], row["seq"], row["term"], row["active"])), draft))
    return pairs


def _revise_messages(tx: Tx, trash_id: int, total: int, change: Change) -> tuple[int, dict[str, str], int]:
    """The ledger after it, the new results of tool calls by the calls' ids, how many messages changed."""
    results, changed = {}, 0
    for row in _buried_rows(tx, trash_id, "messages", MESSAGE_COLUMNS):
        changes = change("messages", row)
        if not changes:
            continue
        new = {**row, **changes}
        term = ledger.term(ledger.digest(new), row["seq"])
        total = (ledger.minus(total, [row["term"] or 0]) + term) & ledger.MASK
        _set(tx, "trash_messages", {**changes, "term": term}, {"trash_id": trash_id, "id": row["id"]})
        changed += 1
        if row["role"] == "tool" and row["tool_call_id"] is not None:
            results[row["tool_call_id"]] = summary(new["content"], new["content_type"])
    return total, results, changed


def _revise_calls(tx: Tx, trash_id: int, results: Mapping[str, str], change: Change) -> int:
    changed = 0
    for row in _buried_rows(tx, trash_id, "tool_calls", TOOL_CALL_COLUMNS):
        changes = dict(change("tool_calls", row))
        if row["call_id"] in results and row["result_summary"] is not None:
            changes["result_summary"] = results[row["call_id"]]
        changed += _set(tx, "trash_tool_calls", changes, {"trash_id": trash_id, "id": row["id"]})
    return changed


def _buried_rows(tx: Tx, trash_id: int, table: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    found = tx.rows(BURIED_ROWS % (", ".join(columns), table), {"trash_id": trash_id})
    return [rows.named(columns, row) for row in found]


def _set(tx: Tx, table: str, changes: Mapping[str, Any], key: Mapping[str, Any]) -> int:
    if not changes:
        return 0
    assignments = ", ".join(f"{name} = :new_{name}" for name in changes)
    condition = " AND ".join(f"{name} = :{name}" for name in key)
    values = {f"new_{name}": value for name, value in changes.items()}
    return tx.run(f"UPDATE {table} SET {assignments} WHERE {condition}", {**values, **key})
