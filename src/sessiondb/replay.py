"""Stored messages to the form that model APIs take; pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .models import MessageRow

INTERRUPTED = "[no result: the session was interrupted before this tool call finished]"

Turn = dict[str, Any]


def turn(message: MessageRow, *, timestamps: bool = False) -> Turn:
    """Role and content always; tool and reasoning keys only when they are set."""
    out: Turn = {"role": message["role"], "content": message["content"]}
    if message["tool_call_id"]:
        out["tool_call_id"] = message["tool_call_id"]
    if message["tool_name"]:
        out["tool_name"] = message["tool_name"]
    if message["tool_calls"]:
        out["tool_calls"] = message["tool_calls"]
    if message["role"] == "assistant":
        if message["reasoning"]:
            out["reasoning"] = message["reasoning"]
        if message["reasoning_details"]:
            out["reasoning_details"] = _decoded(message["reasoning_details"])
        if message["codex_reasoning_items"]:
            out["codex_reasoning_items"] = _decoded(message["codex_reasoning_items"])
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
    answers = _answers(turns)
    out: list[Turn] = []
    for place, current in enumerate(turns):
        if current["role"] != "tool":
            out.append(current)
            calls = enumerate(_call_ids(current))
            out.extend(answers.get((place, number)) or _interrupted(*call) for number, call in calls)
    return out


def _answers(turns: Sequence[Turn]) -> dict[tuple[int, int], Turn]:
    """(turn, number of the call in it) -> result. Ids may be used again: a result answers the newest open call."""
    unanswered: dict[str, list[tuple[int, int]]] = {}
    answers: dict[tuple[int, int], Turn] = {}
    for place, current in enumerate(turns):
        for number, (call_id, _) in enumerate(_call_ids(current)):
            unanswered.setdefault(call_id, []).append((place, number))
        waiting = unanswered.get(str(current.get("tool_call_id"))) if current["role"] == "tool" else None
        if waiting:
            answers[waiting.pop()] = current
    return answers


def _interrupted(call_id: str, name: str | None) -> Turn:
    answer: Turn = {"role": "tool", "content": INTERRUPTED, "tool_call_id": call_id}
    return answer | {"tool_name": name} if name else answer
