"""Counts over Gemini CLI chats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty

CONTEXT = (
    "This is the Gemini CLI. We are setting up the context",
    "<session_context",
    "<hook_context",
    "<state_snapshot",
)


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in sorted(paths):
        header, messages, paid = conversation(path)
        if paid:
            sessions[header["sessionId"]] = tally_of(path, header, messages, paid)
    return sessions


def conversation(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """The header, the messages that are left, and all that ever were: those were paid for."""
    if path.suffix == ".json":
        whole = json.loads(path.read_bytes())
        return whole, whole.get("messages", []), whole.get("messages", [])
    paid: dict[str, dict[str, Any]] = {}
    header: dict[str, Any] = {}
    messages: list[dict[str, Any]] = []
    for line in path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "type" in record:
            paid[record["id"]] = record
        if "$set" in record:
            header.update(record["$set"])
            messages = header.pop("messages", messages)
        elif "$rewindTo" in record:
            ids = [message["id"] for message in messages]
            if record["$rewindTo"] in ids:
                messages = messages[: ids.index(record["$rewindTo"])]
        elif "sessionId" in record and "type" not in record:
            header.update(record)
        elif record.get("id") in [message["id"] for message in messages]:
            messages[[message["id"] for message in messages].index(record["id"])] = record
        else:
            messages.append(record)
    return header, messages, list(paid.values())


def tally_of(
    path: Path, header: dict[str, Any], messages: list[dict[str, Any]], paid: list[dict[str, Any]]
) -> dict[str, Any]:
    tally = empty()
    for message in paid:
        add_tokens(tally, message.get("tokens") or {})
    tally["title"] = header.get("summary")
    if header.get("kind") == "subagent":
        tally["parent"], tally["relation"] = path.parent.name, "subagent"
    for message in messages:
        words = words_of(message.get("content")).strip()
        if message["type"] == "user":
            words = words_of(message.get("displayContent")).strip() or words
            typed = words and not words.startswith(CONTEXT) and header.get("kind") != "subagent"
            tally["human"] += bool(typed)
            parts = message["content"] if isinstance(message["content"], list) else []
            tally["tool_results"] += sum("functionResponse" in part for part in parts if isinstance(part, dict))
        elif message["type"] == "gemini":
            tally["assistant"] += bool(words)
            calls = message.get("toolCalls", [])
            tally["tool_calls"] += len(calls)
            tally["tool_results"] += sum(bool(call.get("result") or call.get("resultDisplay")) for call in calls)
    return tally


def words_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else part.get("text") or "" for part in content or ())


def add_tokens(tally: dict[str, Any], tokens: dict[str, int]) -> None:
    tally["input"] += tokens.get("input", 0) - tokens.get("cached", 0) + tokens.get("tool", 0)
    tally["cache_read"] += tokens.get("cached", 0)
    tally["output"] += tokens.get("output", 0) + tokens.get("thoughts", 0)
    tally["reasoning"] += tokens.get("thoughts", 0)
