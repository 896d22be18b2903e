"""Stored messages to the form that model APIs take; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from .models import MessageRow

INTERRUPTED = "[no result: the session was interrupted before this tool call finished]"

Turn = dict[str, Any]


def turn(message: MessageRow, *, timestamps: bool = False) -> Turn:
    """Role and content always; tool and reasoning keys only when they are set."""
    out: Turn = {"role": message["role"], "content": message["content"]}
    for name in ("tool_call_id", "tool_name", "tool_calls"):
        if message.get(name):
            out[name] = message[name]
    if message["role"] == "assistant":
        if message["reasoning"]:
            out["reasoning"] = message["reasoning"]
        for name in ("reasoning_details", "codex_reasoning_items"):
            if message.get(name):
                out[name] = _decoded(message[name])  # type: ignore[literal-required]
    if timestamps:
        out["timestamp"] = message["timestamp"]
    return out


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _call_ids(turn: Turn) -> list[tuple[str, str | None]]:
    calls = turn.get("tool_calls")
    if turn["role"] != "assistant" or not isinstance(calls, list):
        return []
    return [(str(call["id"]), _name(call)) for call in calls if isinstance(call, dict) and call.get("id") is not None]


def _name(call: dict[str, Any]) -> str | None:
    function = call.get("function")
    return function.get("name") if isinstance(function, dict) else call.get("name")


def repaired(turns: Sequence[Turn]) -> list[Turn]:
    """The same conversation, acceptable to an API that wants every tool call answered at once.

    A call without a result gets one that says so; results follow their call; a result without a call is left out.
    """
    # Some APIs number their calls anew in every turn, so one id may have several results: first call, first result.
    results: dict[str, list[Turn]] = {}
    for current in turns:
        if current["role"] == "tool":
            results.setdefault(str(current.get("tool_call_id")), []).append(current)
    out: list[Turn] = []
    for current in turns:
        if current["role"] == "tool":
            continue
        out.append(current)
        out.extend(_answers(_call_ids(current), results))
    return out


def _answers(calls: Iterable[tuple[str, str | None]], results: dict[str, list[Turn]]) -> Iterable[Turn]:
    for call_id, name in calls:
        if results.get(call_id):
            yield results[call_id].pop(0)
        else:
            yield {"role": "tool", "content": INTERRUPTED, "tool_call_id": call_id} | (
                {"tool_name": name} if name else {}
            )
