"""Costs from the real price table."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from genai_prices import Usage, calc_price

from sessiondb import pricing
from sessiondb.errors import MissingExtra
from sessiondb.models import SessionRow

DAY = datetime(2026, 6, 1, tzinfo=UTC)


def session(model: str | None, *, provider: str | None = None, url: str | None = None, **tokens: int) -> SessionRow:
    kinds = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
    row: dict[str, Any] = {name: tokens.get(name, 0) for name in kinds}
    row |= {"model": model, "billing_provider": provider, "billing_base_url": url, "started_at": DAY.timestamp()}
    return row  # type: ignore[return-value]


def listed(model: str, **tokens: int) -> float:
    return float(calc_price(Usage(**tokens), model, genai_request_timestamp=DAY).total_price)


@pytest.fixture
def prices() -> pricing.Prices:
    return pricing.load()


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro"])
def test_a_session_costs_what_the_table_says(prices: pricing.Prices, model: str) -> None:
    cached = {"cache_read_tokens": 4000, "cache_write_tokens": 40}
    ours = prices.cost(session(model, input_tokens=700, output_tokens=90, **cached))
    # Its input includes what was cached, ours does not.
    theirs = listed(model, input_tokens=4740, output_tokens=90, **cached)
    assert ours == pytest.approx(theirs)


def test_many_requests_are_not_priced_as_one_long_one(prices: pricing.Prices) -> None:
    once = prices.cost(session("gemini-2.5-pro", input_tokens=100_000))
    assert once is not None
    assert prices.cost(session("gemini-2.5-pro", input_tokens=1_000_000)) == pytest.approx(10 * once)


def test_reasoning_is_paid_as_output_once(prices: pricing.Prices) -> None:
    plain = prices.cost(session("gpt-4o", output_tokens=100))
    assert prices.cost(session("gpt-4o", output_tokens=100, reasoning_tokens=60)) == plain


@pytest.mark.parametrize("model", [None, "", "large-model", "nobody/nothing", "/"])
def test_an_unknown_model_has_no_price(prices: pricing.Prices, model: str | None) -> None:
    assert prices.cost(session(model, input_tokens=100)) is None


def test_the_name_that_a_router_uses_is_understood(prices: pricing.Prices) -> None:
    direct = prices.cost(session("claude-sonnet-4-5", input_tokens=1000))
    assert prices.cost(session("anthropic/claude-sonnet-4-5", input_tokens=1000)) == direct


def test_an_unknown_provider_does_not_hide_a_known_model(prices: pricing.Prices) -> None:
    assert prices.cost(session("gpt-4o", provider="my-proxy", url="http://localhost:4000", input_tokens=1000))


def test_the_table_has_a_name_and_a_date(prices: pricing.Prices) -> None:
    assert prices.name.startswith("genai-prices ")
    assert prices.dated is not None
    assert "2025-01-01" < prices.dated <= str(datetime.now(UTC).date())


def test_without_the_package_the_error_tells_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sessiondb\[cost\]'"):
        pricing.load()
