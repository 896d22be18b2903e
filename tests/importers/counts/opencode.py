"""Counts over OpenCode histories: the storage tree, the database, an export, the event stream of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw

from .tally import empty

Conversation = tuple[dict[str, Any], list[tuple[dict[str, Any], list[dict[str, Any]]]]]


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in sorted(paths):
        for info, messages in conversations(path):
            if messages:
                sessions[info["id"]] = tally_of(info, messages)
    return sessions


def conversations(path: Path) -> list[Conversation]:
    if path.suffix == ".db":
        return of_database(path)
    if path.suffix == ".jsonl":
        return of_events(path)
    whole = json.loads(path.read_bytes())
    if "messages" in whole:
        return [(whole["info"], [(message["info"], message["parts"]) for message in whole["messages"]])]
    return [of_tree(path, whole)]


def of_tree(path: Path, info: dict[str, Any]) -> Conversation:
    storage = path.parent.parent.parent
    messages = []
    for file in sorted((storage / "message" / info["id"]).glob("*.json")):
        message = json.loads(file.read_bytes())
        parts = sorted((storage / "part" / message["id"]).glob("*.json"))
        messages.append((message, [json.loads(part.read_bytes()) for part in parts]))
    return info, messages


def of_database(path: Path) -> list[Conversation]:
    connection = apsw.Connection(f"file:{path}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    found = []
    sessions = "SELECT id, parent_id, title, revert FROM session"
    for session, parent, title, revert in list(connection.execute(sessions)):
        info = {"id": session, "parentID": parent, "title": title, "revert": json.loads(revert or "{}")}
        messages = []
        rows = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        for message, data in list(connection.execute(rows, (session,))):
            parts = connection.execute("SELECT data FROM part WHERE message_id = ?", (message,))
            messages.append(({**json.loads(data), "id": message}, [json.loads(part) for (part,) in parts]))
        found.append((info, messages))
    connection.close()
    return found


def of_events(path: Path) -> list[Conversation]:
    events = [json.loads(line) for line in path.read_bytes().splitlines()]
    parts: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        if "part" in event:
            parts.setdefault(event["part"]["messageID"], []).append(event["part"])
    return [({"id": events[0]["sessionID"]}, [({"role": "assistant"}, own) for own in parts.values()])]


def tally_of(info: dict[str, Any], messages: list[Any]) -> dict[str, Any]:
    tally = empty()
    title = info.get("title")
    tally["title"] = title if title and not title.startswith(("New session - ", "Child session - ")) else None
    if info.get("parentID"):
        tally["parent"], tally["relation"] = info["parentID"], "subagent"
    undone = (info.get("revert") or {}).get("messageID", "~")
    for message, parts in messages:
        for counted in paid_by(message, parts):
            add_tokens(tally, counted["tokens"])
        if message.get("id", "") >= undone:
            continue
        said = [part for part in parts if part["type"] == "text" and part["text"].strip() and not part.get("ignored")]
        own = [part for part in said if not part.get("synthetic")]
        tools = [part for part in parts if part["type"] == "tool"]
        tally["tool_calls"] += len(tools)
        tally["tool_results"] += sum(part["state"]["status"] in ("completed", "error") for part in tools)
        if message["role"] == "user":
            attached = any(part["type"] == "file" for part in parts)
            tally["human"] += bool(own or (attached and not said)) and not info.get("parentID")
        else:
            tally["assistant"] += bool(said)
    return tally


def paid_by(message: dict[str, Any], parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if message["role"] == "user":
        return []
    finished = [part for part in parts if part["type"] == "step-finish"]
    return [message] if isinstance(message.get("tokens"), dict) else finished


def add_tokens(tally: dict[str, Any], tokens: dict[str, Any]) -> None:
    cache = tokens.get("cache", {})
    reasoning = tokens.get("reasoning", 0)
    parts = tokens["input"] + tokens["output"] + cache.get("read", 0) + cache.get("write", 0)
    apart = tokens.get("total") != parts
    tally["input"] += tokens["input"]
    tally["output"] += tokens["output"] + (reasoning if apart else 0)
    tally["cache_read"] += cache.get("read", 0)
    tally["cache_write"] += cache.get("write", 0)
    tally["reasoning"] += reasoning
