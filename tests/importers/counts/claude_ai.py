"""Counts over exports of Claude.ai."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from .chatgpt import documents
from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    found = [each for path in paths for whole in documents(path) for each in whole]
    return {each["uuid"]: tally_of(each) for each in found if each["chat_messages"]}


def tally_of(conversation: dict[str, Any]) -> dict[str, Any]:
    tally = empty()
    tally["title"] = conversation["name"] or None
    messages = {message["uuid"]: message for message in conversation["chat_messages"]}
    name = conversation["chat_messages"][-1]["uuid"]
    kept = list(messages)
    if any(message.get("parent_message_uuid") for message in messages.values()):
        kept = []
        while name in messages:
            kept.append(name)
            name = messages[name]["parent_message_uuid"]
    for name in kept:
        add(tally, messages[name])
    return tally


def add(tally: dict[str, Any], message: dict[str, Any]) -> None:
    kinds = [block["type"] for block in message["content"]]
    tally["tool_calls"] += kinds.count("tool_use")
    tally["tool_results"] += kinds.count("tool_result")
    if message["sender"] == "human":
        spoken = "".join(block.get("text", "") for block in message["content"]) or message["text"]
        tally["human"] += bool(spoken.strip())
        return
    # Between two results there is one answer, however many pieces of text it has.
    for is_result, run in groupby(message["content"], lambda block: block["type"] == "tool_result"):
        tally["assistant"] += not is_result and any(block.get("text", "").strip() for block in run)
    tally["assistant"] += not kinds and bool(message["text"])
