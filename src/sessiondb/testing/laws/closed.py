"""A closed store says so, whatever it is asked."""

from __future__ import annotations

from typing import Any

import pytest

from ...bindings import Binding
from ...db import SessionDB
from ...drafts import draft
from ...errors import Closed
from ...models import IMPORT_FILE_COLUMNS, SESSION_COLUMNS, Filter, MessageFilter, Page
from ...moving import Part
from ...provider import SessionDBProvider
from ...search.query import Term, parse
from .base import LawBase, OpenProvider

PART = Part({**dict.fromkeys(SESSION_COLUMNS), "id": "s", "source": "cli", "started_at": 1.0, "last_seq": 0}, [])
DRAFT = draft({"role": "user", "content": "x"}, 1.0, 100)
BINDING = Binding("k", "telegram", "dm", "1", None, None, None, "{}", 1.0, 1.0)

# Every public method with arguments that would be fine on an open store.
API: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "ancestors": (("s",), {}),
    "append_message": (("s", "user", "x"), {}),
    "append_messages": (("s", [{"role": "user"}]), {}),
    "archive_session": (("s",), {}),
    "clear_messages": (("s",), {}),
    "create_session": (("s", "cli"), {}),
    "delete_session": (("s",), {}),
    "descendants": (("s",), {}),
    "empty_trash": ((), {}),
    "end_session": (("s", "done"), {}),
    "ensure_session": (("s",), {}),
    "export_all": ((), {}),
    "export_session": (("s",), {}),
    "family": (("s",), {}),
    "fork_session": (("s",), {}),
    "get_compression_tip": (("s",), {}),
    "get_media_refs": (("s",), {}),
    "get_messages": (("s",), {}),
    "get_messages_around": (("s", 1), {}),
    "get_messages_as_conversation": (("s",), {}),
    "get_meta": (("key",), {}),
    "get_next_title_in_lineage": (("deploy",), {}),
    "get_session": (("s",), {}),
    "get_session_by_title": (("deploy",), {}),
    "get_session_title": (("s",), {}),
    "get_tags": (("s",), {}),
    "get_tool_calls": (("s",), {}),
    "health": ((), {}),
    "index": ((), {}),
    "import_native": (({"id": "s", "source": "cli", "started_at": 1.0},), {}),
    "import_sessions": (([{"id": "s", "source": "cli", "started_at": 1.0}],), {}),
    "iter_export": ((), {}),
    "iter_messages": (("s",), {}),
    "lineage_root": (("s",), {}),
    "list_prunable": ((), {}),
    "list_sessions_rich": ((), {}),
    "list_trash": ((), {}),
    "merge_messages": (("s", [{"role": "user", "message_key": "k"}]), {}),
    "message_count": ((), {}),
    "pin_session": (("s",), {}),
    "prune_sessions": ((), {}),
    "reopen_session": (("s",), {}),
    "replace_messages": (("s", []), {}),
    "resolve_resume_session_id": (("s",), {}),
    "resolve_session_by_title": (("deploy",), {}),
    "resolve_session_id": (("s",), {}),
    "restore_deleted": (("s",), {}),
    "restore_rewound": (("s",), {}),
    "rewind_to_message": (("s", 1), {}),
    "rotate_session": (("s",), {}),
    "search_messages": (("needle",), {}),
    "search_sessions": ((), {}),
    "session_count": ((), {}),
    "set_auto_title_if_empty": (("s", "deploy"), {}),
    "set_meta": (("key", "value"), {}),
    "set_session_title": (("s", "deploy"), {}),
    "stats": ((), {}),
    "tag_session": (("s", "work"), {}),
    "top_sessions_by_tokens": ((), {}),
    "untag_session": (("s", "work"), {}),
    "update_session": (("s",), {"cwd": "/a"}),
    "update_system_prompt": (("s", "x"), {}),
    "update_token_counts": (("s", 1), {}),
    "usage_by_model": ((), {}),
    "verify": ((), {}),
}
NEED_NO_STORE = {"close", "sanitize_title"}

PRIMITIVES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "add_usage": (("s", {"input_tokens": 1}, {}), {"absolute": False}),
    "ancestors": (("s",), {}),
    "append": (("s", [DRAFT]), {}),
    "catalogue": ((), {}),
    "candidates": (([Term("needle")], Filter(), MessageFilter(), 5), {}),
    "change_tags": (("s", ["work"], []), {}),
    "clear_messages": (("s",), {}),
    "count_messages": ((), {}),
    "count_sessions": ((Filter(),), {}),
    "create_session": (({"id": "s", "source": "cli", "started_at": 1.0},), {}),
    "delete_sessions": ((Filter(),), {"deleted_at": 1.0}),
    "descendants": (("s",), {}),
    "drop_binding": ((BINDING,), {}),
    "empty_trash": ((1.0,), {}),
    "find_keys": ((["s"], ["k"]), {}),
    "find_ids": (("s", 2), {}),
    "find_native": (("codex", "a"), {}),
    "find_titles": (("deploy",), {}),
    "found_messages": (([1],), {}),
    "get_binding": (("k",), {}),
    "get_media_refs": (("s",), {}),
    "get_message": ((1,), {}),
    "get_turns": (("s",), {}),
    "get_messages": (("s",), {}),
    "get_meta": (("key",), {}),
    "get_session": (("s",), {}),
    "get_tool_calls": (("s",), {}),
    "health": ((), {}),
    "ledger_at": (("s", 1), {}),
    "load": (([PART],), {}),
    "near_words": ((["needle"],), {}),
    "list_bindings": ((), {}),
    "list_import_files": ((), {}),
    "list_sessions": ((Filter(), Page(), "started"), {}),
    "list_tags": ((), {}),
    "list_trash": ((Page(),), {}),
    "merge": (("s", [DRAFT]), {}),
    "place_sessions": (({"s": 1},), {}),
    "put_import_files": (([dict.fromkeys(IMPORT_FILE_COLUMNS) | {"path": "/a"}],), {}),
    "read_part": (("s",), {}),
    "replace_messages": (("s", [DRAFT]), {}),
    "restore": (("s",), {}),
    "revise": (("s", [1], lambda table, row: {}), {}),
    "revise_trash": ((lambda table, row: {},), {}),
    "rotate": (("s", {"id": "t", "source": "cli", "started_at": 1.0}), {}),
    "scan_messages": ((Filter(), MessageFilter()), {}),
    "search": ((parse("needle"), Filter(), MessageFilter(), Page(), "newest", 1.0), {}),
    "search_text": (("needle", "substring", Filter(), MessageFilter(), Page()), {"deadline": 1.0}),
    "search_titles": ((parse("needle"), Filter()), {}),
    "set_active": (("s", 0, True), {}),
    "set_meta": (("key", "value"), {}),
    "set_title": (("s", "deploy", "user"), {}),
    "stats": ((), {}),
    "stored_messages": (("s",), {}),
    "stored_together": ((["s"],), {}),
    "swap_binding": ((None, BINDING), {}),
    "surroundings": (([{"session_id": "s", "seq": 1}],), {}),
    "top_sessions_by_tokens": ((Filter(), 5), {}),
    "update_index": ((), {}),
    "update_session": (("s", {"cwd": "/a"}), {}),
    "usage_by_model": ((Filter(),), {}),
    "session_facts": ((Filter(),), {}),
    "activity": ((Filter(), MessageFilter(), 900.0), {}),
    "tool_usage": ((Filter(), None, None), {}),
}
# What a provider may leave to the base: it has nothing to tell.
MAY_LACK = {
    "buried", "bury", "expect_load", "find_media", "homeless", "left_out", "load_side_rows", "put_media", "side_rows",
    "unreadable_sessions",
}  # fmt: skip
LIFE = {"initialize", "is_available", "shutdown"}


def public_methods(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))}


def call(target: object, name: str, table: dict[str, tuple[tuple[Any, ...], dict[str, Any]]]) -> None:
    """Call a method, and if it answers with an iterator, ask for the first element."""
    args, kwargs = table[name]
    answer = getattr(target, name)(*args, **kwargs)
    if hasattr(answer, "__next__"):
        next(answer, None)


class ClosedLaws(LawBase):
    def test_every_public_method_is_asked(self) -> None:
        assert public_methods(SessionDB) - NEED_NO_STORE == API.keys()

    def test_every_primitive_is_asked(self) -> None:
        assert public_methods(SessionDBProvider) - LIFE - MAY_LACK == PRIMITIVES.keys()

    @pytest.mark.parametrize("method", API)
    def test_every_method_of_a_closed_store_raises_closed(self, db: SessionDB, method: str) -> None:
        db.close()
        with pytest.raises(Closed, match="closed"):
            call(db, method, API)

    def test_what_asks_for_nothing_is_refused_too(self, db: SessionDB) -> None:
        db.close()
        for ask in (lambda: db.search_messages(""), lambda: db.resolve_session_id(""), lambda: db.import_sessions([])):
            with pytest.raises(Closed):
                ask()

    @pytest.mark.parametrize("primitive", PRIMITIVES)
    def test_every_primitive_of_a_closed_store_raises_closed(self, db: SessionDB, primitive: str) -> None:
        db.close()
        with pytest.raises(Closed, match="closed"):
            call(db.provider, primitive, PRIMITIVES)

    def test_a_provider_that_was_never_opened_is_closed(self) -> None:
        with pytest.raises(Closed):
            self.provider().get_session("s")

    def test_closing_twice_changes_nothing(self, db: SessionDB) -> None:
        db.close()
        db.close()

    def test_shutting_down_what_was_never_opened_is_harmless(self) -> None:
        self.provider().shutdown()

    def test_leaving_the_block_closes(self, db: SessionDB) -> None:
        with db as same:
            assert same is db
        with pytest.raises(Closed):
            db.get_session("s")

    def test_a_provider_is_available(self, open_provider: OpenProvider) -> None:
        assert self.provider.is_available() is True
