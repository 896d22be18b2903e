"""Traces for OpenTelemetry: OTLP as JSON, a request per line, with the names of the GenAI conventions.

A session is a trace: `invoke_agent` over all of it, a `chat` span per answer of a model, an `execute_tool` span per
result. The store keeps one moment per message, the one it ended at: a span begins where the message before it ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, TextIO

from ..jsontext import dumps
from ..models import MessageRow, SessionRow
from .base import Conversation, calls, words
from .jsonl import safe

NAME = "otlp"
SUFFIXES = (".otlp.json", ".otlp.jsonl")
SCOPE = "sessiondb"
SPANS_PER_LINE = 500
_INTERNAL, _CLIENT = 1, 3
_SURROGATES = re.compile("[\ud800-\udfff]")
# The names that the conventions give to those whose models are told by their name.
_PROVIDERS = {
    "claude": "anthropic",
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "codex": "openai",
    "gemini": "gcp.gemini",
    "deepseek": "deepseek",
    "mistral": "mistral_ai",
    "grok": "x_ai",
}

Span = dict[str, Any]


def write(conversations: Iterable[Conversation], out: TextIO) -> None:
    for conversation in conversations:
        _write(conversation.session, (_whole(conversation), *_steps(conversation)), out)


def more(conversation: Conversation, after: int, out: TextIO) -> None:
    """What came after a position; the span over the session is written again, with its new end."""
    steps = [span for seq, span in _numbered(conversation) if seq > after]
    _write(conversation.session, (_whole(conversation), *steps), out)


def _write(session: SessionRow, spans: Iterable[Span], out: TextIO) -> None:
    batch: list[Span] = []
    for span in spans:
        batch.append(span)
        if len(batch) == SPANS_PER_LINE:
            out.write(_line(session, batch))
            batch = []
    if batch:
        out.write(_line(session, batch))


def _line(session: SessionRow, spans: list[Span]) -> str:
    resource = {
        "service.name": session["source"],
        "host.name": session["host"],
        "process.working_directory": session["cwd"],
    }
    scope = {"scope": {"name": SCOPE}, "spans": spans}
    request = {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}]}
    # What is no character has no place in this protocol.
    return safe(_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", dumps(request))) + "\n"


def _whole(conversation: Conversation) -> Span:
    session = conversation.session
    end = session["ended_at"] or session["last_active"] or session["started_at"]
    agent = session["origin"] or session["source"]
    facts = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": _provider(session["billing_provider"], session["model"]),
        "gen_ai.agent.name": agent,
        "gen_ai.request.model": session["model"],
        "gen_ai.usage.input_tokens": session["input_tokens"] or None,
        "gen_ai.usage.output_tokens": session["output_tokens"] or None,
        "gen_ai.usage.cache_read.input_tokens": session["cache_read_tokens"] or None,
        "gen_ai.usage.cache_creation.input_tokens": session["cache_write_tokens"] or None,
        "gen_ai.usage.reasoning.output_tokens": session["reasoning_tokens"] or None,
        "gen_ai.system_instructions": _parts_json(session["system_prompt"]),
        "sessiondb.session.title": session["title"],
        "sessiondb.session.parent_id": session["parent_session_id"],
        "sessiondb.cost_usd": session["actual_cost_usd"] or session["estimated_cost_usd"],
    }
    return _span(session, None, f"invoke_agent {agent}", _INTERNAL, session["started_at"], end, facts)


def _steps(conversation: Conversation) -> Iterator[Span]:
    return (span for _, span in _numbered(conversation))


def _numbered(conversation: Conversation) -> Iterator[tuple[int, Span]]:
    """Spans with the position of the message that ends them."""
    session = conversation.session
    began = session["started_at"]
    heard: list[dict[str, Any]] = []
    called: dict[str, tuple[float, dict[str, Any]]] = {}
    for message in conversation.messages():
        if message["role"] == "assistant":
            yield message["seq"] or 0, _chat(session, message, began, heard)
            heard = []
            called |= {call["call_id"]: (message["timestamp"], call) for call in calls(message) if call["call_id"]}
        else:
            if message["role"] == "tool":
                yield message["seq"] or 0, _tool(session, message, began, called)
            heard.append(_said(message))
        began = message["timestamp"]


def _chat(session: SessionRow, message: MessageRow, began: float, heard: list[dict[str, Any]]) -> Span:
    model = message["model"] or session["model"]
    facts = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _provider(message["provider"] or session["billing_provider"], model),
        "gen_ai.request.model": model,
        "gen_ai.response.model": message["model"],
        "gen_ai.response.finish_reasons": [message["finish_reason"]] if message["finish_reason"] else None,
        "gen_ai.usage.input_tokens": message["input_tokens"],
        "gen_ai.usage.output_tokens": message["output_tokens"],
        "gen_ai.input.messages": dumps(heard) if heard else None,
        "gen_ai.output.messages": dumps([_said(message)]),
    }
    name = f"chat {model}" if model else "chat"
    return _span(session, message, name, _CLIENT, began, message["timestamp"], facts)


def _tool(
    session: SessionRow, message: MessageRow, began: float, called: dict[str, tuple[float, dict[str, Any]]]
) -> Span:
    began, call = called.get(message["tool_call_id"] or "", (began, {}))
    tool = message["tool_name"] or call.get("tool_name") or "unknown"
    facts = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": message["tool_call_id"],
        "gen_ai.tool.call.arguments": call.get("arguments"),
        "gen_ai.tool.call.result": words(message),
    }
    return _span(session, message, f"execute_tool {tool}", _INTERNAL, began, message["timestamp"], facts)


def _said(message: MessageRow) -> dict[str, Any]:
    """A message in the form of the conventions: a role and its parts."""
    text = words(message)
    parts: list[dict[str, Any]] = []
    if message["reasoning"]:
        parts.append({"type": "reasoning", "content": message["reasoning"]})
    if message["role"] == "tool":
        parts.append({"type": "tool_call_response", "id": message["tool_call_id"], "response": text})
    elif text:
        parts.append({"type": "text", "content": text})
    for call in calls(message):
        named = {"id": call["call_id"], "name": call["tool_name"], "arguments": call["arguments"]}
        parts.append({"type": "tool_call", **named})
    said: dict[str, Any] = {"role": message["role"], "parts": parts}
    return said | {"finish_reason": message["finish_reason"]} if message["finish_reason"] else said


def _parts_json(text: str | None) -> str | None:
    return dumps([{"type": "text", "content": text}]) if text else None


def _span(
    session: SessionRow,
    message: MessageRow | None,
    name: str,
    kind: int,
    began: float,
    ended: float,
    facts: dict[str, Any],
) -> Span:
    named = {"gen_ai.conversation.id": session["id"], **facts}
    span: Span = {"traceId": _hash(session["id"], 16), "spanId": _hash(_place(session, message), 8)}
    if message is not None:
        span["parentSpanId"] = _hash(_place(session, None), 8)
    return span | {
        "name": name,
        "kind": kind,
        "startTimeUnixNano": _nano(min(began, ended)),
        "endTimeUnixNano": _nano(ended),
        "attributes": _attributes(named),
    }


def _place(session: SessionRow, message: MessageRow | None) -> str:
    """What stays the same whenever the session is exported."""
    return f"{session['id']}\n{'' if message is None else message['seq']}"


def _hash(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def _nano(seconds: float) -> str:
    return str(max(0, min(int(seconds * 1e9), (1 << 64) - 1)))


def _provider(known: str | None, model: str | None) -> str | None:
    if known or not model:
        return known
    name = model.rpartition("/")[2].lower()
    return next((provider for start, provider in _PROVIDERS.items() if name.startswith(start)), None)


def _attributes(facts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in facts.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        # 64 bits are text in this form of JSON.
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}
