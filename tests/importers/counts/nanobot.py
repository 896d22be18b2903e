"""Counts over nanobot conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        tally = empty()
        key = None
        for raw in path.read_bytes().split(b"\n"):
            if not raw.strip():
                continue
            line = json.loads(raw)
            if line.get("_type") == "metadata":
                key = line["key"]
                tally["title"] = line.get("metadata", {}).get("title")
            elif "_type" not in line:
                tally["human"] += line["role"] == "user"
                tally["assistant"] += line["role"] == "assistant" and bool(line["content"])
                tally["tool_calls"] += len(line.get("tool_calls") or ())
                tally["tool_results"] += line["role"] == "tool"
        assert key is not None
        sessions[key] = tally
    return sessions
