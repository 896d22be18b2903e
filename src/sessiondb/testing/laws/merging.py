"""What imports rely on: merging by key, finding by origin, remembering files."""

from __future__ import annotations

from typing import Any

import pytest

from ...db import SessionDB
from ...errors import Invalid, NotFound
from ...models import IMPORT_FILE_COLUMNS, ImportFileRow, Merged
from .base import LawBase, NewSession, contents, positions, say, stored

CALLS = [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]


def keyed(key: str, content: str, role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "message_key": key, "timestamp": 5.0, **fields}


class MergeLaws(LawBase):
    def test_new_keys_are_appended_in_order(self, db: SessionDB, session: NewSession) -> None:
        assert db.merge_messages(session(), [keyed("a", "one"), keyed("b", "two")]) == Merged(2, 0)
        assert contents(db, "s") == ["one", "two"]

    def test_merging_the_same_again_changes_nothing(self, db: SessionDB, session: NewSession) -> None:
        batch = [keyed("a", "one", tool_calls=CALLS), keyed("b", "two")]
        db.merge_messages(session(), batch)
        before = db.export_session("s")
        assert db.merge_messages("s", batch) == Merged(0, 0)
        assert db.export_session("s") == before

    def test_changed_content_is_rewritten_at_its_position(self, db: SessionDB, session: NewSession) -> None:
        db.merge_messages(session(), [keyed("a", "one"), keyed("b", "two"), keyed("c", "three")])
        assert db.merge_messages("s", [keyed("b", "2")]) == Merged(0, 1)
        assert contents(db, "s") == ["one", "2", "three"]
        assert positions(db, "s") == [1, 2, 3]

    def test_the_ledger_follows_a_rewrite(self, db: SessionDB, session: NewSession) -> None:
        db.merge_messages(session(), [keyed("a", "one"), keyed("b", "two")])
        db.merge_messages("s", [keyed("a", "1"), keyed("c", "three")])
        assert db.verify().ok
        assert (stored(db, "s")["last_seq"], stored(db, "s")["message_count"]) == (3, 3)

    def test_a_rewritten_message_is_found_by_its_new_words_only(self, db: SessionDB, session: NewSession) -> None:
        db.merge_messages(session(), [keyed("a", "zebra"), keyed("b", "other")])
        assert len(db.search_messages("zebra")) == 1
        db.merge_messages("s", [keyed("a", "giraffe")])
        assert [len(db.search_messages(word)) for word in ("zebra", "giraffe")] == [0, 1]

    def test_messages_without_a_key_stay_where_they_are(self, db: SessionDB, session: NewSession) -> None:
        db.merge_messages(session(), [keyed("a", "one")])
        say(db, "s", "said here")
        db.merge_messages("s", [keyed("a", "1"), keyed("b", "two")])
        assert contents(db, "s") == ["1", "said here", "two"]

    def test_of_a_key_given_twice_the_last_content_counts(self, db: SessionDB, session: NewSession) -> None:
        merged = db.merge_messages(session(), [keyed("a", "half"), keyed("b", "two"), keyed("a", "whole")])
        assert (merged, contents(db, "s")) == (Merged(2, 0), ["whole", "two"])

    def test_hidden_keys_become_inactive_once(self, db: SessionDB, session: NewSession) -> None:
        db.merge_messages(session(), [keyed("a", "one"), keyed("b", "two", "assistant", tool_calls=CALLS)])
        assert db.merge_messages("s", [], hidden=["b", "unknown"]) == Merged(0, 1)
        assert db.merge_messages("s", [], hidden=["b"]) == Merged(0, 0)
        assert contents(db, "s") == ["one"]
        assert (stored(db, "s")["message_count"], stored(db, "s")["tool_call_count"]) == (1, 0)
        assert db.verify().ok

    def test_a_key_that_comes_and_is_hidden_at_once_is_hidden(self, db: SessionDB, session: NewSession) -> None:
        db.merge_messages(session(), [keyed("a", "one"), keyed("b", "two")], hidden=["b"])
        assert (contents(db, "s"), stored(db, "s")["message_count"]) == (["one"], 1)
        assert contents(db, "s", include_inactive=True) == ["one", "two"]

    def test_what_comes_as_inactive_is_hidden(self, db: SessionDB, session: NewSession) -> None:
        db.merge_messages(session(), [keyed("a", "one"), keyed("b", "two", active=0)])
        assert contents(db, "s") == ["one"]
        assert db.merge_messages("s", [keyed("a", "one", active=0)]) == Merged(0, 1)
        assert contents(db, "s") == []
        assert contents(db, "s", include_inactive=True) == ["one", "two"]

    def test_what_was_hidden_here_stays_hidden(self, db: SessionDB, session: NewSession) -> None:
        db.merge_messages(session(), [keyed("a", "one"), keyed("b", "two")])
        db.rewind_to_message("s", db.get_messages("s")[0]["id"])
        db.merge_messages("s", [keyed("b", "2")])
        assert contents(db, "s", include_inactive=True) == ["one", "2"]
        assert (contents(db, "s"), stored(db, "s")["message_count"]) == (["one"], 1)

    def test_a_rewritten_call_keeps_its_result(self, db: SessionDB, session: NewSession) -> None:
        call = keyed("a", "running", "assistant", tool_calls=CALLS)
        db.merge_messages(session(), [call, keyed("b", "done", "tool", tool_call_id="c1")])
        db.merge_messages("s", [{**call, "content": "ran"}])
        (found,) = db.get_tool_calls("s")
        assert (found["status"], found["result_summary"]) == ("completed", "done")
        assert stored(db, "s")["tool_call_count"] == 1

    def test_a_rewritten_result_is_the_result_of_its_call(self, db: SessionDB, session: NewSession) -> None:
        result = keyed("b", "do", "tool", tool_call_id="c1")
        db.merge_messages(session(), [keyed("a", "x", "assistant", tool_calls=CALLS), result])
        db.merge_messages("s", [{**result, "content": "done"}])
        assert [each["result_summary"] for each in db.get_tool_calls("s")] == ["done"]

    def test_media_of_a_rewritten_message_are_those_of_its_content(self, db: SessionDB, session: NewSession) -> None:
        picture = [{"kind": "image", "path": "/a.png"}]
        db.merge_messages(session(), [keyed("a", "x", media_refs=picture)])
        db.merge_messages("s", [keyed("a", "y", media_refs=[{"kind": "image", "path": "/b.png"}])])
        assert [each["path"] for each in db.get_media_refs("s")] == ["/b.png"]

    def test_merging_into_nothing_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(NotFound):
            db.merge_messages("ghost", [keyed("a", "one")])

    def test_merging_needs_keys(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(Invalid, match="message_key"):
            db.merge_messages(session(), [{"role": "user", "content": "x"}])


class NativeLaws(LawBase):
    def test_a_session_is_found_by_where_it_comes_from(self, db: SessionDB, session: NewSession) -> None:
        session("s", origin="codex", native_id="A")
        found = db.provider.find_native("codex", "A")
        assert found is not None
        assert found["id"] == "s"

    def test_origin_and_id_must_both_be_right(self, db: SessionDB, session: NewSession) -> None:
        session("s", origin="codex", native_id="A")
        assert [db.provider.find_native(*each) for each in (("codex", "a"), ("claude", "A"))] == [None, None]


class ImportFileLaws(LawBase):
    def file(self, path: str, **values: Any) -> ImportFileRow:
        return {**dict.fromkeys(IMPORT_FILE_COLUMNS), "path": path, **values}  # type: ignore[typeddict-item]

    def test_a_file_is_remembered_as_it_was_put(self, db: SessionDB) -> None:
        sizes = {"inode": 2**40, "size": 2**33, "mtime": 1.25, "read_offset": 7}
        row = self.file("/ä/x.jsonl", head_hash="h", origin="o", state='{"a": "ü"}', **sizes)
        db.provider.put_import_files([row])
        assert db.provider.list_import_files() == [row]

    def test_no_file_is_known_at_first(self, db: SessionDB) -> None:
        assert db.provider.list_import_files() == []

    def test_putting_again_replaces(self, db: SessionDB) -> None:
        db.provider.put_import_files([self.file("/a", size=1)])
        db.provider.put_import_files([self.file("/a", size=2)])
        assert [row["size"] for row in db.provider.list_import_files()] == [2]

    def test_files_are_listed_by_path(self, db: SessionDB) -> None:
        db.provider.put_import_files([self.file(path) for path in ("/b", "/a", "/B")])
        assert [row["path"] for row in db.provider.list_import_files()] == ["/B", "/a", "/b"]

    def test_a_moved_file_leaves_its_old_path(self, db: SessionDB) -> None:
        db.provider.put_import_files([self.file("/old", size=1)])
        db.provider.put_import_files([self.file("/new", size=1)], forget=["/old", "/never there"])
        assert [row["path"] for row in db.provider.list_import_files()] == ["/new"]
