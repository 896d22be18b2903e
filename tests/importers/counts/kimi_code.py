"""Counts over wires of Kimi Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        tally = empty()
        agent, session = path.parent.name, path.parents[2].name
        name = path.stem if path.name != "wire.jsonl" else session if agent == "main" else f"{agent}:{session}"
        if ":" in name:
            tally["parent"], tally["relation"] = session, "subagent"
        elif (path.parents[2] / "state.json").exists():
            tally["title"] = json.loads((path.parents[2] / "state.json").read_bytes())["title"]
        add(tally, [json.loads(line) for line in path.read_bytes().split(b"\n") if line.startswith(b"{")])
        if ":" in name:
            tally["human"] = 0
        sessions[name] = tally
    return sessions


def add(tally: dict[str, Any], records: list[dict[str, Any]]) -> None:
    has_text = False
    for record in records:
        message, event = record.get("message", {}), record.get("event", {})
        typed = message.get("origin", {"kind": "user"})["kind"] == "user"
        tally["human"] += message.get("role") == "user" and typed
        kind = event.get("type")
        has_text = False if kind == "step.begin" else has_text
        if kind == "content.part" and event["part"]["type"] == "text" and not has_text:
            has_text = True
            tally["assistant"] += 1
        tally["tool_calls"] += kind == "tool.call"
        tally["tool_results"] += kind == "tool.result"
        usage = event.get("usage", {})
        tally["input"] += usage.get("inputOther", 0)
        tally["output"] += usage.get("output", 0)
        tally["cache_read"] += usage.get("inputCacheRead", 0)
        tally["cache_write"] += usage.get("inputCacheCreation", 0)
