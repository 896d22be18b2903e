"""Counts over lines of the OpenAI chat API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .hermes import of_messages


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        for raw in path.read_bytes().split(b"\n"):
            if raw.strip():
                line = json.loads(raw)
                tally = of_messages(line["messages"])
                tally["title"] = line.get("title")
                tally["input"] = line.get("usage", {}).get("prompt_tokens", 0)
                tally["output"] = line.get("usage", {}).get("completion_tokens", 0)
                sessions[line["id"]] = tally
    return sessions
