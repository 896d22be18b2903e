"""Counts over chats of Open WebUI."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        for row in rows(path):
            chat = row.get("chat", row)
            tree = chat["history"]["messages"]
            first = next(name for name, message in tree.items() if message["parentId"] is None)
            sessions[row.get("id") or first] = tally_of(chat, tree, row.get("title"))
    return sessions


def rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".json":
        whole = json.loads(path.read_bytes())
        return whole if isinstance(whole, list) else [whole]
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    found = connection.execute("SELECT id, title, chat FROM chat").fetchall()
    connection.close()
    return [{"id": name, "title": title, "chat": json.loads(chat)} for name, title, chat in found]


def tally_of(chat: dict[str, Any], tree: dict[str, Any], title: str | None) -> dict[str, Any]:
    tally = empty()
    tally["title"] = title or chat["title"]
    for message in tree.values():
        usage = message.get("usage") or {}
        tally["input"] += usage.get("prompt_tokens", 0)
        tally["output"] += usage.get("completion_tokens", 0)
    name = chat["history"]["currentId"]
    while name:
        message = tree[name]
        tally["human"] += message["role"] == "user"
        tally["assistant"] += message["role"] == "assistant" and not message["content"].endswith("</details>")
        tally["tool_calls"] += message["content"].count('type="tool_calls"')
        tally["tool_results"] += message["content"].count('result="')
        name = message["parentId"]
    return tally
