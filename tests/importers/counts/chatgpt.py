"""Counts over ChatGPT exports."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        for whole in documents(path):
            for conversation in whole if isinstance(whole, list) else [whole]:
                sessions[conversation["id"]] = tally_of(conversation)
    return sessions


def documents(path: Path) -> list[Any]:
    if path.suffix != ".zip":
        return [json.loads(path.read_bytes())]
    with zipfile.ZipFile(path) as archive:
        return [json.loads(archive.read(name)) for name in archive.namelist() if "conversations" in name]


def tally_of(conversation: dict[str, Any]) -> dict[str, Any]:
    tally = empty()
    tally["title"] = conversation["title"]
    nodes = conversation["mapping"]
    name = conversation.get("current_node") or [name for name, node in nodes.items() if not node["children"]][-1]
    while name:
        if nodes[name]["message"]:
            add(tally, nodes[name]["message"])
        name = nodes[name]["parent"]
    return tally


def add(tally: dict[str, Any], message: dict[str, Any]) -> None:
    role, content, recipient = message["author"]["role"], message["content"], message.get("recipient", "all")
    plain = content["content_type"] in ("text", "multimodal_text", "code", "execution_output")
    has_words = plain and any(part != "" for part in content.get("parts", [content.get("text", "")]))
    hidden = message.get("metadata", {}).get("is_visually_hidden_from_conversation") or message.get("weight") == 0
    tally["human"] += role == "user" and bool(has_words) and not hidden
    tally["assistant"] += role == "assistant" and bool(has_words) and recipient == "all"
    tally["tool_calls"] += role == "assistant" and recipient != "all"
    tally["tool_results"] += role == "tool"
