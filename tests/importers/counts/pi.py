"""Counts over sessions of pi and OpenClaw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        entries = [json.loads(line) for line in path.read_bytes().split(b"\n") if line.startswith(b"{")]
        tally = sessions[entries[0]["id"]] = empty()
        if entries[0].get("parentSession"):
            tally["parent"], tally["relation"] = entries[0]["parentSession"].split("_")[-1][:-6], "fork"
        names = [entry["name"] for entry in entries if entry["type"] == "session_info"]
        tally["title"] = names[-1] if names else None
        for entry in entries:
            paid(tally, entry.get("message", {}).get("usage", {}))
        for entry in shown(entries):
            add(tally, entry["message"])
    return sessions


def shown(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages on the way from the last entry back to the first."""
    made_by = {}
    for entry in entries:
        content = entry.get("message", {}).get("content", ())
        made_by |= {block["id"]: entry["id"] for block in content if isinstance(block, dict) and "id" in block}
    known = {entry["id"]: entry for entry in entries}
    found, name = [], entries[-1]["id"]
    while name in known:
        found.append(known[name])
        parent = known[name].get("parentId")
        name = parent if parent in known else made_by.get(parent)
    return [entry for entry in found if entry["type"] == "message"]


def add(tally: dict[str, Any], message: dict[str, Any]) -> None:
    content = message["content"]
    kinds = ["text"] if isinstance(content, str) else [block["type"] for block in content]
    tally["human"] += message["role"] == "user"
    tally["assistant"] += message["role"] == "assistant" and "text" in kinds
    tally["tool_calls"] += kinds.count("toolCall")
    tally["tool_results"] += message["role"] == "toolResult"


def paid(tally: dict[str, Any], usage: dict[str, Any]) -> None:
    for short, name in (("input", "input"), ("output", "output"), ("cache_read", "cacheRead"),
                        ("cache_write", "cacheWrite")):  # fmt: skip
        tally[short] += usage.get(name, 0)
