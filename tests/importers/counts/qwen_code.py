"""Counts over chats of Qwen Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions: dict[str, dict[str, Any]] = {}
    for path in paths:
        for line in path.read_bytes().split(b"\n"):
            if line.startswith(b"{"):
                record = json.loads(line)
                add(sessions.setdefault(record["sessionId"], empty()), record)
    return sessions


def add(tally: dict[str, Any], record: dict[str, Any]) -> None:
    kind, parts = record["type"], record["message"]["parts"]
    typed = [part for part in parts if not part.get("text", "").startswith("<qwen:")]
    tally["human"] += kind == "user" and bool(typed) and "subtype" not in record
    tally["assistant"] += kind == "assistant" and any("text" in part and "thought" not in part for part in parts)
    tally["tool_calls"] += sum("functionCall" in part for part in parts)
    tally["tool_results"] += sum("functionResponse" in part for part in parts)
    usage = record.get("usageMetadata", {})
    tally["input"] += usage.get("promptTokenCount", 0) - usage.get("cachedContentTokenCount", 0)
    tally["cache_read"] += usage.get("cachedContentTokenCount", 0)
    tally["output"] += usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0)
    tally["reasoning"] += usage.get("thoughtsTokenCount", 0)
