"""What cannot be stored is refused by name, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest

from ...db import SessionDB
from ...errors import Invalid, NotFound, SessionDBError
from ...models import Filter
from .base import LawBase, NewSession, say, stored
from .closed import API, call

# Methods that name a session first, each with arguments that would be fine.
OF_A_SESSION = {name: given for name, given in API.items() if given[0][:1] == ("s",)}
OF_A_TITLE = ("get_session_by_title", "resolve_session_by_title", "get_next_title_in_lineage")
BEGINNERS = {"create_session", "ensure_session"}
NO_TEXT = (5, True, b"s", ["s"], {"s": 1})


class NameInputLaws(LawBase):
    """An id of another type is no unknown session: a server might take the number 5 for the text "5"."""

    @pytest.mark.parametrize("method", OF_A_SESSION)
    def test_a_session_is_named_by_text(self, db: SessionDB, session: NewSession, method: str) -> None:
        session("5")
        session("s")
        (_, *others), options = OF_A_SESSION[method]
        for name in NO_TEXT:
            with pytest.raises(Invalid, match="session_id must be"):
                call(db, method, {method: ((name, *others), options)})
        assert db.session_count() == 2

    @pytest.mark.parametrize("name", NO_TEXT)
    def test_one_session_of_all_is_named_by_text(self, db: SessionDB, session: NewSession, name: Any) -> None:
        say(db, session(), "hello")
        for ask in (db.message_count, db.verify, lambda chosen: db.search_messages("hello", session_id=chosen)):
            with pytest.raises(Invalid, match="session_id must be text"):
                ask(name)

    @pytest.mark.parametrize("method", sorted(OF_A_SESSION.keys() - BEGINNERS))
    def test_no_id_is_as_good_as_an_unknown_one(self, db: SessionDB, session: NewSession, method: str) -> None:
        say(db, session("s"), "hello")
        (_, *others), options = OF_A_SESSION[method]
        before = stored(db, "s")
        try:
            answer = getattr(db, method)(None, *others, **options)
        except NotFound:
            answer = None
        assert not (list(answer) if hasattr(answer, "__next__") else answer)
        assert (db.session_count(), stored(db, "s")) == (1, before)

    @pytest.mark.parametrize("title", NO_TEXT)
    @pytest.mark.parametrize("method", OF_A_TITLE)
    def test_a_title_is_asked_for_by_text(self, db: SessionDB, method: str, title: Any) -> None:
        with pytest.raises(Invalid, match="title must be text"):
            getattr(db, method)(title)

    def test_no_title_finds_nothing(self, db: SessionDB, session: NewSession) -> None:
        session()
        assert db.get_session_by_title(None) is None  # type: ignore[arg-type]
        assert db.resolve_session_by_title(None) is None  # type: ignore[arg-type]

    @pytest.mark.parametrize("source", NO_TEXT)
    def test_a_source_is_asked_for_by_text(self, db: SessionDB, source: Any) -> None:
        for ask in (db.list_sessions_rich, db.search_sessions, db.session_count, db.export_all):
            with pytest.raises(Invalid, match="source must be text"):
                ask(source)
        with pytest.raises(Invalid, match="source must be text"):
            db.prune_sessions(0, source)

    @pytest.mark.parametrize("names", ["cli", b"cli", 5, [5], [None], {"cli": 1}])
    def test_several_sources_come_in_a_list(self, db: SessionDB, session: NewSession, names: Any) -> None:
        say(db, session(), "hello")
        for name in ("source_filter", "exclude_sources", "role_filter", "tags"):
            with pytest.raises(Invalid, match=f"{name} must be a list of texts"):
                db.search_messages("hello", **{name: names})
        with pytest.raises(Invalid, match="exclude_sources must be a list of texts"):
            db.list_sessions_rich(exclude_sources=names)

    @pytest.mark.parametrize("names", [("cli",), {"cli"}, ["cli"]])
    def test_any_collection_of_sources_will_do(self, db: SessionDB, session: NewSession, names: Any) -> None:
        say(db, session(), "hello")
        assert [hit["session_id"] for hit in db.search_messages("hello", names)] == ["s"]


class SessionInputLaws(LawBase):
    @pytest.mark.parametrize("name", ["", None, 5, b"bytes", "x" * 256])
    def test_a_bad_id_is_refused(self, db: SessionDB, name: Any) -> None:
        with pytest.raises(Invalid, match="session_id"):
            db.create_session(name, "cli")
        assert db.session_count() == 0

    @pytest.mark.parametrize("source", ["", None, 5])
    def test_a_bad_source_is_refused(self, db: SessionDB, source: Any) -> None:
        with pytest.raises(Invalid, match="source"):
            db.create_session("s", source)
        assert db.session_count() == 0

    @pytest.mark.parametrize(
        "name", ["model", "system_prompt", "user_id", "parent_session_id", "cwd", "session_key", "host"]
    )
    def test_text_fields_take_only_text(self, db: SessionDB, name: str) -> None:
        with pytest.raises(Invalid, match=name):
            db.create_session("s", "cli", **{name: 5})  # type: ignore[arg-type]
        assert db.session_count() == 0

    @pytest.mark.parametrize("field", ["colour", "ledger", "message_count", "title", "ended_at"])
    def test_an_unknown_field_is_refused(self, db: SessionDB, field: str) -> None:
        with pytest.raises(Invalid, match=field):
            db.create_session("s", "cli", **{field: "red"})  # type: ignore[arg-type]
        assert db.session_count() == 0

    @pytest.mark.parametrize("value", [5, ["a"], {"a": object()}, {"a": {1, 2}}])
    @pytest.mark.parametrize("name", ["model_config", "metadata"])
    def test_what_is_no_json_is_refused(self, db: SessionDB, name: str, value: Any) -> None:
        with pytest.raises(Invalid, match=name):
            db.create_session("s", "cli", **{name: value})
        assert db.session_count() == 0

    @pytest.mark.parametrize("moment", ["noon", float("nan"), float("inf"), True])
    def test_a_bad_time_is_refused(self, db: SessionDB, moment: Any) -> None:
        with pytest.raises(Invalid, match="started_at"):
            db.create_session("s", "cli", started_at=moment)
        assert db.session_count() == 0

    def test_an_unknown_relation_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(Invalid, match="cousin"):
            db.create_session("s", "cli", relation="cousin")

    def test_a_reason_that_is_no_text_is_refused(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(Invalid, match="end_reason"):
            db.end_session(session(), 5)  # type: ignore[arg-type]
        assert stored(db, "s")["ended_at"] is None

    def test_a_title_that_is_no_text_is_refused(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(Invalid, match="title"):
            db.set_session_title(session(), 5)  # type: ignore[arg-type]


class UsageInputLaws(LawBase):
    @pytest.mark.parametrize("count", [-1, 1.5, "5", True, None, 2**63])
    @pytest.mark.parametrize("name", ["input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens"])
    def test_a_bad_count_is_refused(self, db: SessionDB, session: NewSession, name: str, count: Any) -> None:
        before = stored(db, session())
        with pytest.raises(Invalid, match=name):
            db.update_token_counts("s", **{name: count})
        assert stored(db, "s") == before

    @pytest.mark.parametrize("cost", [-0.01, float("nan"), "1", True])
    @pytest.mark.parametrize("name", ["estimated_cost_usd", "actual_cost_usd"])
    def test_a_bad_cost_is_refused(self, db: SessionDB, session: NewSession, name: str, cost: Any) -> None:
        before = stored(db, session())
        with pytest.raises(Invalid, match=f"{name} must be a positive amount"):
            db.update_token_counts("s", input_tokens=5, **{name: cost})
        assert stored(db, "s") == before

    def test_a_fact_that_is_no_text_is_refused(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(Invalid, match="billing_mode"):
            db.update_token_counts(session(), input_tokens=5, billing_mode=5)  # type: ignore[arg-type]
        assert stored(db, "s")["input_tokens"] == 0


class MessageInputLaws(LawBase):
    @pytest.mark.parametrize("role", ["wizard", "", None, 5, "User", ["user"]])
    def test_an_unknown_role_is_refused(self, db: SessionDB, session: NewSession, role: Any) -> None:
        with pytest.raises(Invalid, match="role"):
            db.append_message(session(), role, "x")
        assert db.message_count() == 0

    @pytest.mark.parametrize("content", [5, 1.5, True, b"bytes", object(), ("a",), [object()], {"a": {1}}])
    def test_content_is_text_list_or_dict(self, db: SessionDB, session: NewSession, content: Any) -> None:
        with pytest.raises(Invalid, match="content"):
            say(db, session(), content)
        assert db.message_count() == 0

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("tool_name", 5),
            ("tool_call_id", 5),
            ("finish_reason", ["stop"]),
            ("reasoning", {"a": 1}),
            ("message_key", 5),
            ("content_type", 5),
            ("token_count", -1),
            ("token_count", 2.5),
            ("input_tokens", "3"),
            ("timestamp", "noon"),
            ("timestamp", float("nan")),
            ("timestamp", 10**400),
            ("metadata", {"a": object()}),
            ("metadata", "text"),
            ("tool_calls", [object()]),
            ("reasoning_details", [object()]),
            ("media_refs", [{"path": "no kind"}]),
            ("media_refs", [{"kind": "image", "size": -1}]),
            ("media_refs", ["text"]),
            ("media_refs", 5),
            ("colour", "red"),
            ("seq", 7),
            ("session_id", "other"),
        ],
    )
    def test_a_bad_field_is_refused_by_name(self, db: SessionDB, session: NewSession, name: str, value: Any) -> None:
        with pytest.raises(Invalid, match=name.removesuffix("_refs")):
            db.append_messages(session(), [{"role": "user", "content": "x", name: value}])
        assert db.message_count() == 0

    def test_bad_media_beside_structured_content_are_refused(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(Invalid, match="media_refs"):
            db.append_message(session(), "user", [{"type": "text", "text": "x"}], media_refs=5)
        assert db.message_count() == 0

    @pytest.mark.parametrize("messages", [None, 5, "hello", {"role": "user", "content": "x"}])
    def test_messages_come_in_a_list(self, db: SessionDB, session: NewSession, messages: Any) -> None:
        session()
        for store in (db.append_messages, db.replace_messages, db.merge_messages):
            with pytest.raises(Invalid, match="messages must be a list"):
                store("s", messages)
        assert db.message_count() == 0

    def test_the_bad_message_of_a_batch_is_named(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(Invalid, match="message 1: unknown role 'wizard'"):
            db.append_messages(session(), [{"role": "user"}, {"role": "wizard"}])
        assert db.message_count() == 0

    @pytest.mark.parametrize("name", [5, ["s"], {"s": 1}, b"s"])
    def test_messages_go_to_a_session_that_is_named_by_text(self, db: SessionDB, name: Any) -> None:
        for store in (lambda: db.append_message(name, "user", "x"), lambda: db.append_messages(name, [])):
            with pytest.raises(Invalid, match="session_id must be text"):
                store()

    @pytest.mark.parametrize("expected", ["1", 1.5, -1, True])
    def test_an_expected_position_is_a_count(self, db: SessionDB, session: NewSession, expected: Any) -> None:
        with pytest.raises(Invalid, match="expected_seq"):
            db.append_message(session(), "user", "x", expected_seq=expected)
        assert db.message_count() == 0

    @pytest.mark.parametrize("name", ["limit", "after", "before"])
    @pytest.mark.parametrize("value", [-1, "5", 1.5])
    def test_a_page_of_messages_is_given_in_counts(self, db: SessionDB, name: str, value: Any) -> None:
        with pytest.raises(Invalid, match=name):
            db.get_messages("s", **{name: value})

    def test_a_window_is_a_count(self, db: SessionDB, session: NewSession) -> None:
        (message_id,) = say(db, session(), "x")
        with pytest.raises(Invalid, match="window"):
            db.get_messages_around("s", message_id, window=-1)

    @pytest.mark.parametrize("message_id", [0, -1, 2**63, 2**70])
    def test_an_impossible_message_id_is_not_found(self, db: SessionDB, session: NewSession, message_id: int) -> None:
        with pytest.raises(NotFound):
            db.rewind_to_message(session(), message_id)


class PageInputLaws(LawBase):
    @pytest.mark.parametrize("value", [-1, "5", 1.5])
    @pytest.mark.parametrize("name", ["limit", "offset"])
    def test_every_page_is_given_in_counts(self, db: SessionDB, name: str, value: Any) -> None:
        for ask in (db.list_sessions_rich, db.search_sessions, db.list_trash):
            with pytest.raises(Invalid, match=name):
                ask(**{name: value})
        with pytest.raises(Invalid, match=name):
            db.search_messages("x", **{name: value})

    @pytest.mark.parametrize("query", [None, 5, ["word"], b"word"])
    def test_a_query_is_text(self, db: SessionDB, query: Any) -> None:
        for mode in ("words", "substring"):
            with pytest.raises(Invalid, match="query must be text"):
                db.search_messages(query, mode=mode)

    @pytest.mark.parametrize("where", [5, "cli", {"sources": ("cli",)}])
    def test_what_is_selected_is_said_by_a_filter(self, db: SessionDB, where: Any) -> None:
        asked = (
            db.list_sessions_rich,
            db.session_count,
            db.usage_by_model,
            db.top_sessions_by_tokens,
            db.list_prunable,
        )
        for ask in asked:
            with pytest.raises(Invalid, match="where must be a Filter"):
                ask(where=where)
        with pytest.raises(Invalid, match="where must be a Filter"):
            db.search_messages("x", where=where)

    def test_an_offset_must_be_given(self, db: SessionDB) -> None:
        for ask in (db.list_sessions_rich, db.search_sessions, db.list_trash):
            with pytest.raises(Invalid, match="offset"):
                ask(offset=None)  # type: ignore[arg-type]
        with pytest.raises(Invalid, match="limit"):
            db.top_sessions_by_tokens(None)  # type: ignore[arg-type]

    def test_a_source_narrows_a_filter(self, db: SessionDB, session: NewSession) -> None:
        session("a")
        assert db.session_count("telegram", where=Filter()) == 0

    @pytest.mark.parametrize("documents", [None, 5, "text", {"id": "s", "source": "cli"}])
    def test_what_is_imported_is_a_list(self, db: SessionDB, documents: Any) -> None:
        with pytest.raises(Invalid, match="sessions must be a list"):
            db.import_sessions(documents)

    @pytest.mark.parametrize("days", [-1, "5", float("nan"), 10**400])
    def test_an_age_is_a_number(self, db: SessionDB, days: Any) -> None:
        for remove in (db.empty_trash, db.prune_sessions):
            with pytest.raises(Invalid, match="older_than_days"):
                remove(days)

    @pytest.mark.parametrize("order", ["size", "", None, 5, ["started"]])
    def test_an_order_is_one_of_those_offered(self, db: SessionDB, order: Any) -> None:
        with pytest.raises(Invalid, match="unknown order"):
            db.list_sessions_rich(order_by=order)
        with pytest.raises(Invalid, match="unknown order"):
            db.search_messages("x", order=order)

    @pytest.mark.parametrize("name", ["", 5, "x" * 256])
    def test_a_bad_new_id_is_refused(self, db: SessionDB, session: NewSession, name: Any) -> None:
        session()
        for make in (db.fork_session, db.rotate_session, db.restore_deleted):
            with pytest.raises(Invalid, match="id"):
                make("s", new_id=name)
        assert db.session_count() == 1

    @pytest.mark.parametrize("key", ["", None, 5])
    def test_a_bad_meta_key_is_refused(self, db: SessionDB, key: Any) -> None:
        with pytest.raises(Invalid, match="key"):
            db.set_meta(key, "value")

    def test_a_meta_value_is_text(self, db: SessionDB) -> None:
        with pytest.raises(Invalid, match="value"):
            db.set_meta("key", 5)  # type: ignore[arg-type]


class ErrorLaws(LawBase):
    def test_every_error_can_be_caught_as_one(self, db: SessionDB) -> None:
        with pytest.raises(SessionDBError):
            say(db, "ghost", "x")

    def test_not_found_is_a_lookup_error_to_read(self, db: SessionDB) -> None:
        with pytest.raises(LookupError) as caught:
            say(db, "ghost", "x")
        assert str(caught.value).startswith("no session 'ghost'")

    def test_a_bad_value_is_a_value_error(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(ValueError, match="role"):
            db.append_message(session(), "wizard")

    def test_the_handle_works_after_an_error(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(NotFound):
            say(db, "ghost", "x")
        assert say(db, session(), "hello")
