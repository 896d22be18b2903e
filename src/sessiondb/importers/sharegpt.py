"""ShareGPT lines: {"conversations": [{"from": "human", "value": …}]}, with the markup of Hermes where it is used.

There a reply thinks in <think>, calls tools in <tool_call> and gets their answers in <tool_response>.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import line_lists
from .base import Message, Record, Session, Skipped
from .line_lists import find, roots
from .openai_chat import native_id
from .source import Source
from .texts import is_injected, when

__all__ = ["NAME", "detect", "find", "read", "roots"]
NAME = "sharegpt"
_ROLES = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant",
    "bing": "assistant", "bard": "assistant", "system": "system", "tool": "tool", "function": "tool",
    "observation": "tool", "function_call": "assistant",
}  # fmt: skip
_THINK = re.compile(r"\s*<think>(.*?)</think>\s*", re.DOTALL)
_CALL = re.compile(r"\s*<tool_call>\s*(.*?)\s*</tool_call>\s*", re.DOTALL)
_RESPONSE = re.compile(r"\s*<tool_response>\s*(.*?)\s*</tool_response>\s*", re.DOTALL)


def detect(path: Path, head: bytes) -> bool:
    return line_lists.detect(path, head, "conversations", "from")


def read(source: Source) -> Iterator[Record]:
    for found in line_lists.conversations(source, "conversations"):
        if isinstance(found, Skipped):
            yield found
            continue
        line, values, turns = found
        yield _session(values, turns)
        yield from _messages(source.path, line, turns)


def _session(values: Mapping[str, Any], turns: list[Any]) -> Session:
    rest = {key: value for key, value in values.items() if key not in ("conversations", "id", "model", "title")}
    title, model = values.get("title"), values.get("model")
    return Session(
        native_id(values, turns),
        title=title if isinstance(title, str) else None,
        model=model if isinstance(model, str) else None,
        started_at=when(values.get("timestamp")),
        metadata=rest or None,
    )


def _messages(path: Path, line: int, turns: list[Any]) -> Iterator[Record]:
    open_calls: list[tuple[str, str | None]] = []
    made = 0
    for number, turn in enumerate(turns, start=1):
        if not isinstance(turn, dict):
            yield Skipped(path, line, f"turn {number} is no object")
            continue
        value = turn.get("value")
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        role = _ROLES.get(str(turn.get("from")))
        if role is None:
            yield Message("meta", json.dumps(turn, ensure_ascii=False), injected=True)
        elif role == "assistant":
            reply = _reply(text, made)
            calls = reply.tool_calls or []
            made += len(calls)
            open_calls += [(call["id"], call["function"].get("name")) for call in calls]
            yield reply
        elif role == "tool":
            yield from _results(text, open_calls)
        else:
            yield Message(role, text, injected=role == "user" and is_injected(text))


def _reply(text: str, made: int) -> Message:
    thoughts = _THINK.findall(text)
    rest = _THINK.sub("", text)
    calls = [_call(found, made + number) for number, found in enumerate(_CALL.findall(rest), start=1)]
    if any(call is None for call in calls):
        # Not the markup it looked like.
        return Message("assistant", text)
    content = _CALL.sub("", rest).strip() if calls or thoughts else text
    reasoning = "\n".join(thought.strip("\n") for thought in thoughts) or None
    return Message("assistant", content, tool_calls=calls or None, reasoning=reasoning)


def _call(text: str, number: int) -> dict[str, Any] | None:
    try:
        call = json.loads(text)
    except ValueError:
        return None
    if not isinstance(call, dict):
        return None
    arguments = call.get("arguments", {})
    told = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {
        "id": str(call.get("id") or f"call_{number}"),
        "type": "function",
        "function": {"name": call.get("name"), "arguments": told},
    }


def _results(text: str, open_calls: list[tuple[str, str | None]]) -> Iterator[Message]:
    """One turn may answer several calls, in their order."""
    for answer in _RESPONSE.findall(text) or [text]:
        call_id, name, content = _answered(answer)
        if call_id is None and open_calls:
            call_id, known = open_calls.pop(0)
            name = name or known
        yield Message("tool", content, tool_call_id=call_id, tool_name=name)


def _answered(text: str) -> tuple[str | None, str | None, str]:
    """The call, the tool and the result, where the answer is JSON that names them."""
    try:
        values = json.loads(text)
    except ValueError:
        return None, None, text
    if not isinstance(values, dict) or "content" not in values:
        return None, None, text
    content = values["content"]
    told = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    call_id, name = values.get("tool_call_id"), values.get("name")
    return call_id if isinstance(call_id, str) else None, name if isinstance(name, str) else None, told
