"""The empty tally of a session."""

from __future__ import annotations

from typing import Any


def empty() -> dict[str, Any]:
    return {
        "human": 0,
        "assistant": 0,
        "tool_calls": 0,
        "tool_results": 0,
        "input": 0,
        "output": 0,
        "cache_read": 0,
        "cache_write": 0,
        "reasoning": 0,
        "title": None,
        "parent": None,
        "relation": None,
    }
