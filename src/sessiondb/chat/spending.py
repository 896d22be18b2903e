"""What an answer used, in the words of the endpoint, and what that costs where prices are known."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra
from ..llm import Endpoint

if TYPE_CHECKING:
    from ..db import SessionDB
    from ..pricing import Prices


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of one request. `input_tokens` are those that came from no cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None

    @property
    def context(self) -> int:
        """How long the conversation is by now."""
        return self.input_tokens + self.cache_read_tokens + self.output_tokens


def spent(usage: Any) -> Spent | None:
    """None for an endpoint that counts nothing, or tells nonsense."""
    asked, said = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if asked is None or said is None:
        return None
    cached = _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens") or 0
    thought = _count(getattr(usage, "completion_tokens_details", None), "reasoning_tokens") or 0
    cost = getattr(usage, "cost", None)
    cost = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e6 else None
    return Spent(asked - min(cached, asked), said, min(cached, asked), thought, cost)


def _count(holder: Any, name: str) -> int | None:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def book(db: SessionDB, session_id: str, endpoint: Endpoint, model: str, used: Spent) -> None:
    """Add to the counters of the session."""
    estimate, source = (None, None) if used.cost is not None else _estimate(model, endpoint.place, used)
    status = "actual" if used.cost is not None else "estimated" if estimate is not None else None
    db.update_token_counts(
        session_id,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cache_read_tokens,
        reasoning_tokens=used.reasoning_tokens,
        model=model,
        billing_base_url=endpoint.place,
        actual_cost_usd=used.cost,
        estimated_cost_usd=estimate,
        cost_status=status,
        cost_source="endpoint" if used.cost is not None else source,
    )


def _estimate(model: str, base_url: str, used: Spent) -> tuple[float | None, str | None]:
    prices = _prices()
    if prices is None:
        return None, None
    asked: Any = {
        "model": model,
        "started_at": time.time(),
        "billing_provider": None,
        "billing_base_url": base_url,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cache_read_tokens": used.cache_read_tokens,
        "cache_write_tokens": 0,
    }
    cost = prices.cost(asked)
    return cost, None if cost is None else prices.name


@cache
def _prices() -> Prices | None:
    from .. import pricing

    try:
        return pricing.load()
    except MissingExtra:
        return None
