"""Counts over tasks of Cline and Roo Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty

NOTES = ("<environment_details>", "[read_file for", "[ERROR]")
USED = (("input", "tokensIn"), ("output", "tokensOut"), ("cache_read", "cacheReads"), ("cache_write", "cacheWrites"))


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        name = path.parent.name if path.name == "api_conversation_history.json" else path.stem
        sessions[name] = tally_of(json.loads(path.read_bytes()))
        add_facts(sessions[name], path, name)
    return sessions


def tally_of(messages: list[dict[str, Any]]) -> dict[str, Any]:
    tally = empty()
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        kinds = [block["type"] for block in blocks]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        outputs = [text.endswith("Result:") for text in texts]
        own = [
            text
            for text, follows in zip(texts, [False, *outputs], strict=False)
            if not text.startswith(NOTES) and not follows
        ]
        tally["human"] += message["role"] == "user" and bool(own)
        tally["assistant"] += message["role"] == "assistant" and bool(texts)
        tally["tool_calls"] += kinds.count("tool_use")
        tally["tool_results"] += kinds.count("tool_result")
    return tally


def add_facts(tally: dict[str, Any], path: Path, name: str) -> None:
    screen = path.with_name("ui_messages.json")
    for each in json.loads(screen.read_bytes()) if screen.exists() else ():
        if each.get("say") == "api_req_started":
            told = json.loads(each["text"])
            for short, field in USED:
                tally[short] += told.get(field) or 0
    item, listed = path.with_name("history_item.json"), path.parents[2] / "state" / "taskHistory.json"
    facts = [json.loads(item.read_bytes())] if item.exists() else []
    facts += json.loads(listed.read_bytes()) if listed.exists() else []
    for each in facts:
        if each["id"] == name:
            tally["title"] = each["task"]
            if each.get("parentTaskId"):
                tally["parent"], tally["relation"] = each["parentTaskId"], "subagent"
