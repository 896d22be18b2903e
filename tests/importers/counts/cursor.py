"""Counts over Cursor's transcripts and databases."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions: dict[str, dict[str, Any]] = {}
    for path in paths:
        if path.suffix == ".jsonl":
            sessions[path.stem] = of_transcript(path)
        else:
            sessions |= of_editor(path)
    return sessions


def of_transcript(path: Path) -> dict[str, Any]:
    tally = empty()
    is_child = path.parent.name == "subagents"
    if is_child:
        tally["parent"], tally["relation"] = path.parent.parent.name, "subagent"
    for line in path.read_bytes().split(b"\n"):
        if line.startswith(b"{"):
            record = json.loads(line)
            kinds = [block["type"] for block in record["message"]["content"]]
            tally["human"] += record["role"] == "user" and not is_child
            tally["assistant"] += record["role"] == "assistant" and "text" in kinds
            tally["tool_calls"] += kinds.count("tool_use")
    for above in path.parents:
        for database in above.glob(f"chats/*/{path.stem}/store.db"):
            [(value,)] = rows(database, "SELECT value FROM meta")
            tally["title"] = json.loads(bytes.fromhex(value))["name"]
    return tally


def rows(path: Path, sql: str, *values: Any) -> list[Any]:
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    found = connection.execute(sql, values).fetchall()
    connection.close()
    return found


def of_editor(path: Path) -> dict[str, dict[str, Any]]:
    sessions = {}
    for key, value in rows(path, "SELECT key, value FROM cursorDiskKV WHERE key LIKE 'composerData:%'"):
        composer = json.loads(value)
        bubbles = composer.get("conversation") or []
        for (bubble,) in rows(path, "SELECT value FROM cursorDiskKV WHERE key LIKE ?", f"bubbleId:{key[13:]}:%"):
            bubbles.append(json.loads(bubble))
        if not bubbles:
            continue
        tally = sessions[key[13:]] = empty()
        tally["title"] = composer.get("name")
        for bubble in bubbles:
            tally["human"] += bubble["type"] == 1
            tally["assistant"] += bubble["type"] == 2 and bool(bubble.get("text"))
            tally["tool_calls"] += "toolFormerData" in bubble
            tally["tool_results"] += "result" in bubble.get("toolFormerData", {})
            tally["input"] += bubble.get("tokenCount", {}).get("inputTokens", 0)
            tally["output"] += bubble.get("tokenCount", {}).get("outputTokens", 0)
    return sessions
