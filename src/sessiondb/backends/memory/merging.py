"""What imports need: messages merged by their keys, sessions found by where they come from, files already read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ... import ledger
from ...drafts import latest
from ...models import Draft, ImportFileRow, Merged, SessionRow
from ...rows import session_row
from .conversation import check_positions, rewrite, store, unseen
from .tables import MemoryBase, Row, Session, read, write


class Merging(MemoryBase):
    @write
    def merge(self, session_id: str, messages: Sequence[Draft], hidden: Sequence[str] = ()) -> Merged:
        session = self.tables.session(session_id)
        messages = latest(messages, hidden)
        rows = {row["message_key"]: row for row in session.messages if row["message_key"] is not None}
        fresh = unseen(messages, rows)
        check_positions(session_id, fresh, session.values["last_seq"])
        changed = {key: draft for draft in messages if _differs(rows.get(key := draft.values["message_key"]), draft)}
        gone = {key for draft in messages if not draft.active and (key := draft.values["message_key"]) in rows}
        gone = {key for key in gone | {*hidden} if key in rows and rows[key]["active"]}
        for key in gone:
            _hide(session, rows[key])
        for key, draft in changed.items():
            rewrite(self.tables, session, rows[key], draft)
        store(self.tables, session, fresh)
        return Merged(len(fresh), len(changed.keys() | gone))

    @read
    def find_native(self, origin: str, native_id: str) -> SessionRow | None:
        for session in self.tables.sessions.values():
            if (session.values["origin"], session.values["native_id"]) == (origin, native_id):
                return session_row(dict(session.values))
        return None

    @read
    def list_import_files(self) -> list[ImportFileRow]:
        files = self.tables.import_files
        return [cast(ImportFileRow, dict(files[path])) for path in sorted(files)]

    @write
    def put_import_files(self, files: Sequence[ImportFileRow], *, forget: Sequence[str] = ()) -> None:
        for path in forget:
            self.tables.import_files.pop(path, None)
        for row in files:
            self.tables.import_files[row["path"]] = dict(row)


def _differs(row: Row | None, draft: Draft) -> bool:
    return row is not None and bool(ledger.term(draft.digest, row["seq"]) != row["term"])


def _hide(session: Session, row: Row) -> None:
    row["active"] = 0
    session.values["message_count"] -= 1
    session.values["tool_call_count"] -= sum(call["message_id"] == row["id"] for call in session.tool_calls)
