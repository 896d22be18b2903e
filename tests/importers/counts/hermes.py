"""Counts over Hermes databases and files."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from .tally import empty

RESETS = ("session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired")


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions: dict[str, dict[str, Any]] = {}
    for path in sorted(paths):
        if path.suffix == ".db":
            sessions |= of_database(path)
        elif path.suffix == ".json":
            whole = json.loads(path.read_bytes())
            sessions[whole["session_id"]] = of_messages(whole["messages"])
        else:
            lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line.startswith(b"{")]
            sessions[path.stem] = of_messages([line for line in lines if line["role"] != "session_meta"])
            add_entry(sessions[path.stem], path)
    return sessions


def of_database(path: Path) -> dict[str, dict[str, Any]]:
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    connection.row_factory = sqlite3.Row
    rows = [dict(row) for row in connection.execute("SELECT * FROM sessions")]
    ends = {row["id"]: row["end_reason"] for row in rows}
    found = {}
    for row in rows:
        messages = connection.execute("SELECT * FROM messages WHERE session_id = ?", (row["id"],))
        tally = found[row["id"]] = of_messages([dict(message) for message in messages])
        for short, column in (("input", "input"), ("output", "output"), ("cache_read", "cache_read"),
                              ("cache_write", "cache_write"), ("reasoning", "reasoning")):  # fmt: skip
            tally[short] = row.get(f"{column}_tokens") or 0
        tally["title"], tally["parent"] = row.get("title"), row["parent_session_id"]
        if tally["parent"]:
            tally["relation"] = relation(row.get("model_config") or "", ends.get(tally["parent"]))
    connection.close()
    return found


def relation(config: str, end: str | None) -> str:
    for mark, meaning in (("_branched_from", "fork"), ("_delegate_from", "subagent"), ("_reset_from", "reset")):
        if mark in config:
            return meaning
    return "compression" if end == "compression" else "reset" if end in RESETS else "subagent"


def of_messages(messages: list[dict[str, Any]]) -> dict[str, Any]:
    tally = empty()
    for message in messages:
        if message.get("active") == 0:
            continue
        calls = message.get("tool_calls") or []
        hidden = message.get("display_kind") == "hidden" or str(message["content"]).startswith("<system-reminder>")
        tally["human"] += message["role"] == "user" and not hidden
        tally["assistant"] += message["role"] == "assistant" and bool(message["content"])
        tally["tool_calls"] += len(json.loads(calls) if isinstance(calls, str) else calls)
        tally["tool_results"] += message["role"] == "tool"
    return tally


def add_entry(tally: dict[str, Any], path: Path) -> None:
    index = path.with_name("sessions.json")
    entries = json.loads(index.read_text(encoding="utf-8-sig")) if index.exists() else {}
    for entry in entries.values():
        if entry["session_id"] == path.stem:
            tally["input"], tally["output"] = entry.get("input_tokens", 0), entry.get("output_tokens", 0)
            if entry.get("prev_session_id"):
                tally["parent"], tally["relation"] = entry["prev_session_id"], "reset"
