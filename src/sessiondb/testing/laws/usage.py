"""Tokens and costs: added up, set, and never invented."""

from __future__ import annotations

import pytest

from ...db import SessionDB
from ...models import Filter
from .base import LawBase, NewSession, stored


class UsageLaws(LawBase):
    def test_tokens_add_up(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), input_tokens=10, output_tokens=5)
        db.update_token_counts("s", input_tokens=1, output_tokens=2)
        assert (stored(db, "s")["input_tokens"], stored(db, "s")["output_tokens"]) == (11, 7)

    def test_every_kind_of_token_is_counted(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), 1, 2, cache_read_tokens=3, cache_write_tokens=4, reasoning_tokens=5)
        row = stored(db, "s")
        assert (row["cache_read_tokens"], row["cache_write_tokens"], row["reasoning_tokens"]) == (3, 4, 5)

    def test_absolute_tokens_replace(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), input_tokens=10)
        db.update_token_counts("s", input_tokens=3, absolute=True)
        assert stored(db, "s")["input_tokens"] == 3

    def test_large_counts_are_exact(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), input_tokens=2**53 + 1)
        assert stored(db, "s")["input_tokens"] == 2**53 + 1

    def test_an_unreported_cost_stays_unknown(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), input_tokens=10)
        assert (stored(db, "s")["estimated_cost_usd"], stored(db, "s")["actual_cost_usd"]) == (None, None)

    def test_costs_add_up(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), estimated_cost_usd=0.5, actual_cost_usd=0.25)
        db.update_token_counts("s", estimated_cost_usd=0.25, actual_cost_usd=0.5)
        assert (stored(db, "s")["estimated_cost_usd"], stored(db, "s")["actual_cost_usd"]) == (0.75, 0.75)

    def test_a_cost_of_zero_is_known(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), estimated_cost_usd=0)
        assert stored(db, "s")["estimated_cost_usd"] == 0.0

    def test_absolute_tokens_without_a_cost_keep_the_cost(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), estimated_cost_usd=0.5, actual_cost_usd=0.25)
        db.update_token_counts("s", input_tokens=3, absolute=True)
        assert (stored(db, "s")["estimated_cost_usd"], stored(db, "s")["actual_cost_usd"]) == (0.5, 0.25)

    def test_an_absolute_cost_replaces(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), estimated_cost_usd=0.5)
        db.update_token_counts("s", estimated_cost_usd=0.125, absolute=True)
        assert stored(db, "s")["estimated_cost_usd"] == 0.125

    def test_a_model_fills_only_a_gap(self, db: SessionDB, session: NewSession) -> None:
        db.update_token_counts(session(), model="m1")
        db.update_token_counts("s", model="m2")
        assert stored(db, "s")["model"] == "m1"

    @pytest.mark.parametrize("name", ["billing_provider", "billing_base_url", "billing_mode"])
    def test_billing_facts_fill_only_a_gap(self, db: SessionDB, session: NewSession, name: str) -> None:
        db.update_token_counts(session(), **{name: "first"})  # type: ignore[arg-type]
        db.update_token_counts("s", **{name: "second"})  # type: ignore[arg-type]
        assert stored(db, "s")[name] == "first"  # type: ignore[literal-required]

    @pytest.mark.parametrize("name", ["cost_status", "cost_source", "pricing_version"])
    def test_cost_facts_replace(self, db: SessionDB, session: NewSession, name: str) -> None:
        db.update_token_counts(session(), **{name: "first"})  # type: ignore[arg-type]
        db.update_token_counts("s", **{name: "second"})  # type: ignore[arg-type]
        db.update_token_counts("s")
        assert stored(db, "s")[name] == "second"  # type: ignore[literal-required]

    def test_tokens_of_an_unknown_session_are_ignored(self, db: SessionDB) -> None:
        db.update_token_counts("ghost", input_tokens=10)
        assert db.get_session("ghost") is None


class ModelUsageLaws(LawBase):
    @pytest.fixture
    def spending(self, db: SessionDB) -> SessionDB:
        for name, model, tokens, cost in (("a", "big", 10, 2.0), ("b", "small", 100, 0.5), ("c", "big", 5, 1.0)):
            db.create_session(name, "cli", model)
            db.update_token_counts(name, tokens, tokens, estimated_cost_usd=cost)
        db.create_session("free", "cron", "local")
        db.update_token_counts("free", 1000, 1000)
        db.create_session("nameless", "cli")
        return db

    def test_usage_is_summed_per_model(self, spending: SessionDB) -> None:
        big = spending.usage_by_model()[0]
        assert (big["model"], big["session_count"], big["input_tokens"], big["estimated_cost_usd"]) == (
            "big",
            2,
            15,
            3.0,
        )

    def test_the_dearest_model_comes_first_and_unknown_costs_last(self, spending: SessionDB) -> None:
        assert [row["model"] for row in spending.usage_by_model()] == ["big", "small", "local"]

    def test_an_unknown_cost_is_none_in_the_sum(self, spending: SessionDB) -> None:
        local = spending.usage_by_model()[-1]
        assert (local["estimated_cost_usd"], local["actual_cost_usd"]) == (None, None)

    def test_usage_can_be_narrowed(self, spending: SessionDB) -> None:
        assert [row["model"] for row in spending.usage_by_model(where=Filter(sources=("cron",)))] == ["local"]

    def test_the_largest_sessions_come_first(self, spending: SessionDB) -> None:
        assert [row["id"] for row in spending.top_sessions_by_tokens(3)] == ["free", "b", "a"]

    def test_the_largest_sessions_can_be_narrowed(self, spending: SessionDB) -> None:
        found = spending.top_sessions_by_tokens(where=Filter(exclude_sources=("cron",)))
        assert [row["id"] for row in found] == ["b", "a", "c", "nameless"]
