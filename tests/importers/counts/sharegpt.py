"""Counts over ShareGPT lines; the markup of Hermes is counted by its tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        for raw in path.read_bytes().split(b"\n"):
            if raw.strip():
                line = json.loads(raw)
                sessions[line["id"]] = of_turns(line)
    return sessions


def of_turns(line: dict[str, Any]) -> dict[str, Any]:
    tally = empty()
    tally["title"] = line.get("title")
    for turn in line["conversations"]:
        value = turn["value"]
        tally["human"] += turn["from"] == "human"
        tally["assistant"] += turn["from"] == "gpt" and bool(outside_tags(value))
        tally["tool_calls"] += value.count("<tool_call>") if turn["from"] == "gpt" else 0
        tally["tool_results"] += (value.count("<tool_response>") or 1) if turn["from"] == "tool" else 0
    return tally


def outside_tags(value: str) -> str:
    for tag in ("think", "tool_call"):
        while f"<{tag}>" in value:
            before, _, rest = value.partition(f"<{tag}>")
            value = before + rest.partition(f"</{tag}>")[2]
    return value.strip()
