"""Meta, stats, health."""

from __future__ import annotations

from ...db import SessionDB
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

    def test_deleted_sessions_are_not_counted(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "x")
        db.delete_session("s")
        assert (db.stats()["sessions"], db.stats()["messages"], db.stats()["sources"]) == (0, 0, {})


class HealthLaws(LawBase):
    def test_health_names_the_provider_and_its_schema(self, db: SessionDB) -> None:
        health = db.health()
        assert (health["provider"], health["status"]) == (self.provider.name, "ok")
        assert health["schema_version"] >= 1001

    def test_health_tells_the_age_of_the_last_commit(self, db: SessionDB, session: NewSession) -> None:
        session()
        assert 0 <= db.health()["last_commit_age"] < 60
