"""A stored conversation as a request that endpoints accept; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..recap import spoken

Turn = dict[str, Any]
_SYSTEM = ("system", "developer")


def request(system_prompt: str, history: Iterable[Mapping[str, Any]]) -> list[Turn]:
    """One system message at the beginning, then what was said; what only stores know is left out."""
    turns = [turn for each in history if (turn := _turn(each)) is not None]
    lead = [spoken(turn["content"]) for turn in turns if turn["role"] == "system"]
    system = "\n\n".join(filter(None, [system_prompt, *lead]))
    said = [turn for turn in turns if turn["role"] != "system"]
    return ([{"role": "system", "content": system}] if system else []) + said


def _turn(stored: Mapping[str, Any]) -> Turn | None:
    role, content = stored["role"], stored.get("content")
    role = "system" if role in _SYSTEM else role
    if isinstance(content, dict):
        content = spoken(content)
    if role == "tool":
        text = content if isinstance(content, str) else spoken(content)
        return {"role": role, "content": text, "tool_call_id": str(stored.get("tool_call_id"))}
    if role == "assistant":
        calls = _calls(stored.get("tool_calls"))
        said = content if content or calls else ""
        return {"role": role, "content": said, **({"tool_calls": calls} if calls else {})}
    return {"role": role, "content": content or ""} if role in ("system", "user") else None


def _calls(stored: Any) -> list[Turn]:
    """Calls in the form of the chat protocol, those that other agents made included."""
    given = stored if isinstance(stored, list) else []
    return [_call(each) for each in given if isinstance(each, dict) and each.get("id") is not None]


def _call(stored: Mapping[str, Any]) -> Turn:
    inner = stored.get("function")
    function: Mapping[str, Any] = inner if isinstance(inner, dict) else stored
    found: Any = next((function[key] for key in ("arguments", "input", "args") if function.get(key) is not None), {})
    arguments = found if isinstance(found, str) else json.dumps(found)
    name = str(function.get("name") or "tool")
    return {"id": str(stored["id"]), "type": "function", "function": {"name": name, "arguments": arguments}}


def tokens(turns: Sequence[Mapping[str, Any]]) -> int:
    """About how many tokens a request has: four plain letters make one, of other scripts each may be one."""
    return sum(_tokens(json.dumps(turn, ensure_ascii=False, default=str)) for turn in turns)


def _tokens(text: str) -> int:
    plain = len(text.encode("ascii", "ignore"))
    return plain // 4 + len(text) - plain
