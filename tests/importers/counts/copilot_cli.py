"""Counts over events of Copilot CLI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty

USED = (("output", "outputTokens"), ("cache_read", "cacheReadTokens"), ("cache_write", "cacheWriteTokens"),
        ("reasoning", "reasoningTokens"))  # fmt: skip


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        events = [json.loads(line) for line in path.read_bytes().split(b"\n") if line.startswith(b"{")]
        sessions[events[0]["data"]["sessionId"]] = tally_of(events, path.with_name("workspace.yaml"))
    return sessions


def tally_of(events: list[dict[str, Any]], workspace: Path) -> dict[str, Any]:
    tally = empty()
    for event in events:
        kind, data = event["type"], event["data"]
        tally["human"] += kind == "user.message" and bool(data["content"])
        tally["tool_results"] += kind == "tool.execution_complete"
        if kind == "assistant.message":
            tally["assistant"] += bool(data["content"])
            tally["tool_calls"] += len(data["toolRequests"])
        for metrics in data.get("modelMetrics", {}).values():
            usage = metrics["usage"]
            for short, name in USED:
                tally[short] += usage[name]
            tally["input"] += usage["inputTokens"] - usage["cacheReadTokens"] - usage["cacheWriteTokens"]
    if workspace.exists():
        tally["title"] = workspace.read_text().split("name: ")[1].split("\n")[0]
    return tally
