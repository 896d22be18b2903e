"""Counts over Grok exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        for each in json.loads(path.read_bytes())["conversations"]:
            tally = sessions[each["conversation"]["conversation_id"]] = empty()
            tally["title"] = each["conversation"]["title"]
            responses = {one["response"]["response_id"]: one["response"] for one in each["responses"]}
            name = each["conversation"]["leaf_response_id"] or list(responses)[-1]
            while name:
                response = responses[name]
                tally["human"] += response["sender"] == "human"
                tally["assistant"] += response["sender"].upper() == "ASSISTANT" and bool(response["message"])
                name = response["parent_response_id"]
    return sessions
