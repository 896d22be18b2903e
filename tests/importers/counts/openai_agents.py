"""Counts over databases of the OpenAI Agents SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .cursor import rows
from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        for name, begun in rows(path, "SELECT session_id, created_at FROM agent_sessions"):
            found = rows(path, "SELECT message_data FROM agent_messages WHERE session_id = ?", name)
            items = [json.loads(data) for (data,) in found]
            if items:
                sessions[f"{name}@{begun}".replace(" ", "T")] = tally_of(items)
    return sessions


def tally_of(items: list[dict[str, Any]]) -> dict[str, Any]:
    tally = empty()
    for item in items:
        tally["human"] += item.get("role") == "user"
        tally["assistant"] += item.get("role") == "assistant"
        tally["tool_calls"] += item.get("type") == "function_call"
        tally["tool_results"] += item.get("type") == "function_call_output"
    return tally
