"""What tokens cost: the price table of the package genai-prices (extra `cost`), asked offline.

Prices are per token. A session's tokens are the sum of many requests, so the higher prices that some models have for a
single long request are left out, and fees per request too: an estimate is rather too low.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from .errors import MissingExtra
from .models import SessionRow

if TYPE_CHECKING:
    from types import ModuleType

# Enough tokens for a price of many digits, few enough to stay below the limits of long requests.
_PROBE = 10_000
# The kinds of tokens, and the usage that costs just them: what is cached is part of the input there.
_KINDS = {
    "input_tokens": {"input_tokens": _PROBE},
    "output_tokens": {"output_tokens": _PROBE},
    "cache_read_tokens": {"input_tokens": _PROBE, "cache_read_tokens": _PROBE},
    "cache_write_tokens": {"input_tokens": _PROBE, "cache_write_tokens": _PROBE},
}


class Prices:
    """The prices of tokens by model, provider and day."""

    def __init__(self, package: ModuleType) -> None:
        self._package = package
        self._units = lru_cache(maxsize=4096)(self._units_on)

    @property
    def name(self) -> str:
        return f"genai-prices {version('genai-prices')}"

    @property
    def dated(self) -> str | None:
        """The day of the newest price in the table, as YYYY-MM-DD; the table itself has no date."""
        snapshot = self._package.data_snapshot.get_snapshot()
        if snapshot.from_auto_update:
            return str(snapshot.timestamp.date())
        begun = [day for day in _starts(snapshot.providers) if day <= datetime.now(UTC).date()]
        return str(max(begun)) if begun else None

    def cost(self, session: SessionRow) -> float | None:
        """US dollars for the tokens of a session at the prices of its first day; None for an unknown model."""
        model = session["model"]
        if not model:
            return None
        day = datetime.fromtimestamp(session["started_at"], UTC).date()
        units = self._units(model, session["billing_provider"], session["billing_base_url"], day)
        if units is None:
            return None
        # Reasoning is part of the output.
        return sum(units[kind] * session[kind] for kind in _KINDS)  # type: ignore[literal-required]

    def _units_on(self, model: str, provider: str | None, url: str | None, day: date) -> dict[str, float] | None:
        moment = datetime.combine(day, time.min, UTC)
        for name, known in _spellings(model, provider, url):
            try:
                return {kind: self._price(usage, name, known, moment) for kind, usage in _KINDS.items()}
            except (LookupError, ValueError):
                # Not in the table under this name; ValueError: without a price for this kind of tokens.
                continue
        return None

    def _price(self, usage: dict[str, int], model: str, known: dict[str, str], moment: datetime) -> float:
        asked = [
            self._package.calc_price(self._package.Usage(**tokens), model, genai_request_timestamp=moment, **known)
            for tokens in (usage, {})
        ]
        return float(asked[0].total_price - asked[1].total_price) / _PROBE


def load() -> Prices:
    """Raises MissingExtra."""
    try:
        import genai_prices
    except ImportError:
        raise MissingExtra("estimating costs", "cost") from None
    return Prices(genai_prices)


def _spellings(model: str, provider: str | None, url: str | None) -> list[tuple[str, dict[str, str]]]:
    """How a model may be called in the table, the surest first; routers write "anthropic/claude-…"."""
    maker, _, name = model.partition("/")
    return [
        *([(model, {"provider_id": provider})] if provider else []),
        *([(model, {"provider_api_url": url})] if url else []),
        (model, {}),
        *([(name, {"provider_id": maker}), (name, {})] if name else []),
    ]


def _starts(providers: Any) -> list[date]:
    prices = (model.prices for provider in providers for model in provider.models if isinstance(model.prices, list))
    starts = (getattr(getattr(price, "constraint", None), "start_date", None) for each in prices for price in each)
    return [day for day in starts if day is not None]
