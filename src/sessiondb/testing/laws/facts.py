"""Meta, stats, health."""

from __future__ import annotations

from ...db import SessionDB
from ...models import SESSION_FACTS, Activity, Filter, MessageFilter
from ...provider import SessionDBProvider
from .base import LawBase, NewSession, say


class MetaLaws(LawBase):
    def test_a_value_is_kept_under_its_key(self, db: SessionDB) -> None:
        db.set_meta("last_prune", "yesterday")
        assert db.get_meta("last_prune") == "yesterday"

    def test_an_unknown_key_is_none(self, db: SessionDB) -> None:
        assert db.get_meta("ghost") is None

    def test_a_value_is_replaced(self, db: SessionDB) -> None:
        db.set_meta("key", "old")
        db.set_meta("key", "new")
        assert db.get_meta("key") == "new"

    def test_none_removes_a_value(self, db: SessionDB) -> None:
        db.set_meta("key", "value")
        db.set_meta("key", None)
        db.set_meta("never there", None)
        assert db.get_meta("key") is None

    def test_an_empty_value_is_a_value(self, db: SessionDB) -> None:
        db.set_meta("key", "")
        assert db.get_meta("key") == ""

    def test_meta_keys_differ_by_case_and_blank(self, db: SessionDB) -> None:
        for key in ("key", "Key", "key "):
            db.set_meta(key, key)
        assert [db.get_meta(key) for key in ("key", "Key", "key ")] == ["key", "Key", "key "]


class StatsLaws(LawBase):
    def test_an_empty_store_counts_zero(self, db: SessionDB) -> None:
        stats = db.stats()
        assert (stats["sessions"], stats["messages"], stats["sources"]) == (0, 0, {})

    def test_sessions_and_messages_are_counted(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "x", "y")
        session("b")
        assert (db.stats()["sessions"], db.stats()["messages"]) == (2, 2)

    def test_every_source_is_counted_most_first(self, db: SessionDB, session: NewSession) -> None:
        for name, source in (("a", "web"), ("b", "cli"), ("c", "own-tool"), ("d", "own-tool")):
            session(name, source)
        assert list(db.stats()["sources"].items()) == [("own-tool", 2), ("cli", 1), ("web", 1)]

    def test_the_size_is_a_count_of_bytes(self, db: SessionDB) -> None:
        assert db.stats()["size_bytes"] >= 0

    def test_the_index_is_part_of_the_size(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "needle")
        db.index()
        stats = db.stats()
        assert 0 <= stats["index_bytes"] <= stats["size_bytes"]
        assert (stats["index_bytes"] > 0) == (stats["size_bytes"] > 0 and db.features.indexed_search)

    def test_deleted_sessions_are_not_counted(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "x")
        db.delete_session("s")
        assert (db.stats()["sessions"], db.stats()["messages"], db.stats()["sources"]) == (0, 0, {})


def _call(name: str | None, call_id: str) -> dict[str, object]:
    return {"id": call_id, "function": {"name": name, "arguments": "{}"}}


class InsightLaws(LawBase):
    """What insights are made of."""

    def test_facts_are_the_rows_without_their_long_texts(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a", system_prompt="long", model_config={"x": 1}, started_at=5.0), "x")
        session("b", "web", started_at=9.0)
        facts = db.provider.session_facts(Filter())
        assert [set(row) for row in facts] == [set(SESSION_FACTS)] * 2
        assert [(row["id"], row["source"], row["message_count"]) for row in facts] == [("b", "web", 0), ("a", "cli", 1)]
        assert facts[0]["last_active"] == 9.0

    def test_facts_are_of_the_selected_sessions(self, db: SessionDB, session: NewSession) -> None:
        session("a", started_at=5.0)
        session("b", "web", started_at=9.0)
        assert [row["id"] for row in db.provider.session_facts(Filter(sources=("web",)))] == ["b"]
        assert db.provider.session_facts(Filter(started_since=10.0)) == []

    def test_messages_are_counted_by_steps_of_time(self, db: SessionDB, session: NewSession) -> None:
        session("a")
        for moment, role in (
            (899.0, "user"),
            (900.0, "user"),
            (900.5, "assistant"),
            (1799.9, "user"),
            (1800.0, "user"),
        ):
            db.append_message("a", role, "x", timestamp=moment)
        assert db.provider.activity(Filter(), MessageFilter(), 900) == [
            Activity(0.0, "user", None, 1),
            Activity(900.0, "assistant", None, 1),
            Activity(900.0, "user", None, 2),
            Activity(1800.0, "user", None, 1),
        ]

    def test_activity_tells_the_tools_that_answered(self, db: SessionDB, session: NewSession) -> None:
        session("a")
        for tool in ("read", "read", "write\ud800"):
            db.append_message("a", "tool", "x", tool_name=tool, timestamp=5.0)
        assert db.provider.activity(Filter(), MessageFilter(), 900) == [
            Activity(0.0, "tool", "read", 2),
            Activity(0.0, "tool", "write\ud800", 1),
        ]

    def test_activity_is_of_the_selected_messages(self, db: SessionDB, session: NewSession) -> None:
        for name, source in (("a", "cli"), ("b", "web")):
            session(name, source)
            for moment in (100.0, 2000.0, 4000.0):
                db.append_message(name, "user", "x", timestamp=moment)
        first = db.get_messages("a")[0]["id"]
        db.rewind_to_message("a", first)
        everything = db.provider.activity(Filter(), MessageFilter(), 1000)
        assert [(row.since, row.messages) for row in everything] == [(0.0, 2), (2000.0, 1), (4000.0, 1)]
        some = db.provider.activity(Filter(sources=("web",)), MessageFilter(since=2000.0, until=4000.0), 1000)
        assert some == [Activity(2000.0, "user", None, 1)]

    def test_calls_are_counted_by_tool_most_first(self, db: SessionDB, session: NewSession) -> None:
        session("a")
        calls = [_call("read", "1"), _call("write", "2"), _call("write", "3"), _call("Read", "4")]
        db.append_message("a", "assistant", "", tool_calls=calls, timestamp=100.0)
        assert list(db.provider.tool_usage(Filter(), None, None).items()) == [("write", 2), ("Read", 1), ("read", 1)]

    def test_calls_are_counted_within_the_time_and_the_selection(self, db: SessionDB, session: NewSession) -> None:
        for name, source, moment in (("a", "cli", 100.0), ("b", "web", 200.0)):
            session(name, source)
            db.append_message(name, "assistant", "", tool_calls=[_call("read", "1")], timestamp=moment)
        usage = db.provider.tool_usage
        assert usage(Filter(), 100.0, 200.0) == usage(Filter(), 200.0, None) == {"read": 1}
        assert usage(Filter(sources=("web",)), None, 200.0) == {}

    def test_the_base_counts_what_the_provider_counts(self, db: SessionDB, session: NewSession) -> None:
        session("a", started_at=1.0)
        db.append_message("a", "assistant", "", tool_calls=[_call("read", "1"), _call(None, "2")], timestamp=100.0)
        db.append_message("a", "tool", "x", tool_call_id="1", tool_name="read", timestamp=1000.0)
        own, base = db.provider, SessionDBProvider
        assert own.session_facts(Filter()) == base.session_facts(own, Filter())
        assert own.tool_usage(Filter(), None, 1e9) == base.tool_usage(own, Filter(), None, 1e9)
        assert own.activity(Filter(), MessageFilter(), 60) == base.activity(own, Filter(), MessageFilter(), 60)


class HealthLaws(LawBase):
    def test_health_names_the_provider_and_its_schema(self, db: SessionDB) -> None:
        health = db.health()
        assert (health["provider"], health["status"]) == (self.provider.name, "ok")
        assert health["schema_version"] >= 1001

    def test_health_tells_the_age_of_the_last_commit(self, db: SessionDB, session: NewSession) -> None:
        session()
        assert 0 <= db.health()["last_commit_age"] < 60
