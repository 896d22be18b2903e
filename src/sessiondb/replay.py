"""Stored messages to the form that model APIs take; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .rows import decoded

INTERRUPTED = "[no result: the session was interrupted before this tool call finished]"

Turn = dict[str, Any]
TURN_COLUMNS = (
    "role", "content", "content_type", "tool_call_id", "tool_name", "tool_calls", "reasoning", "reasoning_details",
    "codex_reasoning_items", "timestamp",
)  # fmt: skip


def turn(
    role: str,
    content: Any,
    content_type: str | None,
    tool_call_id: str | None,
    tool_name: str | None,
    tool_calls: str | None,
    reasoning: str | None,
    reasoning_details: str | None,
    codex_reasoning_items: str | None,
    timestamp: float,
) -> Turn:
    """Role, content and time always; tool and reasoning keys only when they are set."""
    if content_type == "json" and content is not None:
        content = decoded(content)
    out: Turn = {"role": role, "content": content, "timestamp": timestamp}
    if tool_call_id:
        out["tool_call_id"] = tool_call_id
    if tool_name:
        out["tool_name"] = tool_name
    if tool_calls and (calls := decoded(tool_calls)):
        out["tool_calls"] = calls
    if role == "assistant":
        if reasoning:
            out["reasoning"] = reasoning
        if reasoning_details:
            out["reasoning_details"] = decoded(reasoning_details)
        if codex_reasoning_items:
            out["codex_reasoning_items"] = decoded(codex_reasoning_items)
    return out


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
