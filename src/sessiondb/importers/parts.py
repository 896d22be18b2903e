"""Parts of messages, in the shapes that all formats share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import jsontext
from .base import Usage
from .texts import count_of

TEXT_TYPES = frozenset({"text", "input_text", "output_text", "summary_text"})


def tool_call(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A call as model APIs spell it; arguments that are text already stay as they are."""
    text = arguments if isinstance(arguments, str) else jsontext.dumps({} if arguments is None else arguments)
    function = {"name": name if isinstance(name, str) else "unknown", "arguments": text}
    return {"id": call_id if isinstance(call_id, str) else None, "type": "function", "function": function}


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """Content as a list of blocks, whether it was text, one block or many."""
    given = content if isinstance(content, list) else [] if content is None else [content]
    return [block if isinstance(block, dict) else {"type": "text", "text": str(block)} for block in given]


def text_of(block: Mapping[str, Any]) -> str | None:
    """The words of a block of text; None for any other."""
    text = block.get("text")
    return text if isinstance(text, str) and str(block.get("type", "text")) in TEXT_TYPES else None


def body(blocks: Sequence[dict[str, Any]], between: str = "\n") -> str | list[dict[str, Any]]:
    """Plain text where there is nothing else; otherwise the blocks themselves, pictures and all."""
    texts = [text_of(block) for block in blocks]
    return list(blocks) if None in texts else between.join(text for text in texts if text)


def said(texts: Iterable[str]) -> str:
    """Texts one after the other, blank ones left out."""
    return "\n\n".join(text.strip("\n") for text in texts if text.strip())


class Totals:
    """Tokens and costs of a session, kept as JSON values in a carry."""

    NAMES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")

    @staticmethod
    def add(totals: dict[str, Any], counts: Mapping[str, Any], less: Mapping[str, Any] | None = None) -> None:
        """Add what a response used, less what of it was added before."""
        before = less or {}
        for name in Totals.NAMES:
            totals[name] = totals.get(name, 0) + count_of(counts.get(name)) - count_of(before.get(name))
        if counts.get("cost") is not None:
            totals["cost"] = totals.get("cost", 0.0) + counts["cost"] - (before.get("cost") or 0.0)

    @staticmethod
    def usage(totals: Mapping[str, Any], session: str, cost_source: str) -> Usage:
        cost = totals.get("cost")
        return Usage(
            **{name: totals.get(name, 0) for name in Totals.NAMES},
            estimated_cost_usd=cost,
            cost_status=None if cost is None else "estimated",
            cost_source=None if cost is None else cost_source,
            session=session,
        )


def list_of(value: Any) -> list[Any]:
    """A value that should be a list; empty when it is none."""
    return value if isinstance(value, list) else []


def object_of(value: Any) -> dict[str, Any]:
    """A value that should be a JSON object; empty when it is none."""
    return value if isinstance(value, dict) else {}


def price_of(value: Any) -> float | None:
    """A cost in dollars; None for anything that is no number."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
