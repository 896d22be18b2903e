"""Texts changed where they stand, in the store and in the trash; terms and ledgers follow."""

from __future__ import annotations

from collections.abc import Sequence

from ... import ledger
from ...drafts import revised
from ...provider import Change
from ...rows import summary
from .conversation import rewrite
from .tables import MemoryBase, Row, Session, write


class Revision(MemoryBase):
    @write
    def revise(self, session_id: str, positions: Sequence[int], change: Change) -> int:
        session = self.tables.session(session_id)
        for reference in session.media_refs:
            reference.update(change("media_refs", dict(reference)))
        activity = session.values["last_message_id"]
        wanted, changed = set(positions), 0
        for row in [row for row in session.messages if row["seq"] in wanted]:
            changes = change("messages", dict(row))
            if changes:
                media = [each for each in session.media_refs if each["message_id"] == row["id"]]
                rewrite(self.tables, session, row, revised({**row, **changes}, media))
                changed += 1
        session.values["last_message_id"] = activity
        return changed

    @write
    def revise_trash(self, change: Change) -> int:
        return sum(_revise(entry.session, change) for entry in self.tables.trash)


def _revise(session: Session, change: Change) -> bool:
    changed = _update(session.values, dict(change("sessions", dict(session.values))))
    results: dict[str, str] = {}
    for row in session.messages:
        changes = dict(change("messages", dict(row)))
        if changes:
            term = ledger.term(ledger.digest({**row, **changes}), row["seq"])
            rest = ledger.minus(session.values["ledger"], [row["term"]])
            session.values["ledger"] = ledger.total((rest, term))
            changed = _update(row, {**changes, "term": term})
            if row["role"] == "tool" and row["tool_call_id"] is not None:
                results[row["tool_call_id"]] = summary(row["content"], row["content_type"])
    for call in session.tool_calls:
        changes = dict(change("tool_calls", dict(call)))
        if call["call_id"] in results and call["result_summary"] is not None:
            changes["result_summary"] = results[call["call_id"]]
        changed = _update(call, changes) or changed
    for reference in session.media_refs:
        changed = _update(reference, dict(change("media_refs", dict(reference)))) or changed
    return changed


def _update(row: Row, changes: Row) -> bool:
    row.update(changes)
    return bool(changes)
