"""Counts over Codex rollouts: whole files in memory, tokens from the cumulative totals."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from .tally import empty

try:
    from compression import zstd
except ImportError:
    from backports import zstd

CONTEXT = (
    "<environment_context", "<user_instructions", "<user_shell_command", "<turn_aborted", "<permissions instructions",
    "<skill", "<system-reminder", "<INSTRUCTIONS", "<collaboration_mode", "<subagent_notification", "<goal_context",
    "# AGENTS.md instructions", "# Files mentioned by the user",
)  # fmt: skip
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions: dict[str, dict[str, Any]] = {}
    for path in sorted(paths):
        records = records_of(path)
        if any(record["type"] in ("response_item", "event_msg") for record in records):
            name, tally = count_rollout(path, records)
            sessions[name] = tally
    for index in {parent / "session_index.jsonl" for path in paths for parent in path.parents}:
        for line in index.read_text().splitlines() if index.exists() else ():
            entry = json.loads(line)
            if entry["id"] in sessions:
                sessions[entry["id"]]["title"] = entry["thread_name"]
    return sessions


def bytes_of(path: Path) -> bytes:
    if path.suffix != ".zst":
        return path.read_bytes()
    return bytes(zstd.decompress(path.read_bytes()))


def records_of(path: Path) -> list[dict[str, Any]]:
    """Today's records, whatever the age of the file."""
    data = bytes_of(path)
    if path.suffix == ".json":
        whole = json.loads(data)
        return [{"type": "session_meta", "payload": whole["session"]}, *map(as_item, whole["items"])]
    records = []
    for line in data.split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and "record_type" not in record:
            records.append(record)
    if records and "payload" not in records[0]:
        return [{"type": "session_meta", "payload": records[0]}, *map(as_item, records[1:])]
    return records


def as_item(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response_item", "payload": item}


def count_rollout(path: Path, records: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    metas = [record["payload"] for record in records if record["type"] == "session_meta"]
    meta = metas[0] if metas else {}
    in_name = UUID.findall(path.name)
    name = in_name[-1] if in_name else meta.get("id") or path.stem
    tally = empty()
    source = meta.get("source")
    spawned = isinstance(source, dict) and "subagent" in source
    spawn = source["subagent"].get("thread_spawn", {}) if spawned and isinstance(source["subagent"], dict) else {}
    tally["parent"] = spawn.get("parent_thread_id") or meta.get("parent_thread_id") or meta.get("forked_from_id")
    tally["relation"] = "subagent" if spawned else "fork" if tally["parent"] else None
    start = end_of_replay(records, name, meta)
    records = without_taken_back(records)
    kept = records if not spawned else records[:1] + records[start:]
    items = [record["payload"] for record in kept if record["type"] == "response_item"]
    tally["tool_calls"] = sum(item["type"].endswith("_call") for item in items)
    tally["tool_results"] = sum(item["type"].endswith("_output") for item in items)
    tally["assistant"] = sum(is_answer(item) for item in items)
    events = [record["payload"] for record in kept if record["type"] == "event_msg"]
    if not any(is_answer(record["payload"]) for record in records if record["type"] == "response_item"):
        tally["assistant"] = sum(
            event["type"] == "agent_message" and bool(event["message"].strip()) for event in events
        )
    if not spawned:
        tally["human"] = human_turns(records[start:])
    add_tokens(tally, records, start)
    for event in events:
        if event["type"] == "thread_name_updated" and event.get("thread_id", name) == name:
            tally["title"] = event["thread_name"]
    return name, tally


def without_taken_back(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Turns that were rolled back are gone but for their tokens."""
    for index, record in enumerate(records):
        payload = record.get("payload")
        if record["type"] != "event_msg" or payload["type"] != "thread_rolled_back":
            continue
        prompts = [at for at in range(index) if is_typed(records[at])]
        first = prompts[-payload["num_turns"]]
        if words_of(records[first - 1].get("payload", {})) == records[first]["payload"]["message"]:
            first -= 1
        for at in range(first, index):
            if records[at].get("payload", {}).get("type") != "token_count":
                records[at] = {"type": "gone", "payload": {}}
    return records


def is_typed(record: dict[str, Any]) -> bool:
    return record["type"] == "event_msg" and record["payload"]["type"] == "user_message"


def is_answer(item: dict[str, Any]) -> bool:
    return item["type"] == "message" and item["role"] == "assistant" and bool(words_of(item).strip())


def words_of(item: dict[str, Any]) -> str:
    content = item.get("content")
    return content if isinstance(content, str) else "".join(part.get("text") or "" for part in content or ())


def end_of_replay(records: list[dict[str, Any]], name: str, meta: dict[str, Any]) -> int:
    """Where the history copied from the parent ends: before the first turn that is younger than the thread."""
    second = records[1] if len(records) > 1 else {}
    if second.get("type") != "session_meta" or second["payload"].get("id") == name:
        return 0
    for index, record in enumerate(records):
        turn = record["payload"].get("turn_id") if isinstance(record.get("payload"), dict) else None
        if is_version_7(turn) and is_version_7(name):
            if born(turn) >= born(name):
                return index
        elif not is_version_7(turn) and record["type"] != "session_meta" and is_later(record, meta):
            return index
    return len(records)


def is_later(record: dict[str, Any], meta: dict[str, Any]) -> bool:
    return seconds(record["timestamp"]) > seconds(meta["timestamp"]) + 2


def is_version_7(text: Any) -> bool:
    return isinstance(text, str) and UUID.fullmatch(text) is not None and text[14] == "7"


def born(uuid: str) -> int:
    return int(uuid.replace("-", "")[:12], 16)


def seconds(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def human_turns(records: list[dict[str, Any]]) -> int:
    """Prompts between two activities of the agent: events name them; without any, what is no known context."""
    turns = 0
    events: list[str] = []
    prompts: list[str] = []
    early: list[str] = []
    for record in [*records, {"type": "response_item", "payload": {"type": "reasoning"}}]:
        payload = record.get("payload")
        if not isinstance(payload, dict):
            continue
        if record["type"] == "event_msg" and payload["type"] == "user_message":
            events.append(payload["message"])
        elif record["type"] == "response_item" and payload.get("role") == "user":
            if words_of(payload) in early:
                early.remove(words_of(payload))
            elif is_prompt(payload):
                prompts.append(words_of(payload))
        elif record["type"] == "response_item" and payload.get("role") not in ("developer", "system"):
            if payload["type"] == "ghost_snapshot":
                continue
            early += events if not prompts else []
            turns += len(events) if events else len(prompts)
            events, prompts = [], []
    return turns


def is_prompt(item: dict[str, Any]) -> bool:
    pictures = any(part.get("type") == "input_image" for part in item.get("content") or () if isinstance(part, dict))
    words = words_of(item).strip()
    return (bool(words) or pictures) and not words.startswith(CONTEXT)


def add_tokens(tally: dict[str, Any], records: list[dict[str, Any]], start: int) -> None:
    last: dict[str, int] = {}
    for index, record in enumerate(records):
        payload = record.get("payload")
        if record["type"] != "event_msg" or payload["type"] != "token_count" or not payload.get("info"):
            continue
        total = payload["info"].get("total_token_usage")
        if total is None:
            total = {
                "input_tokens": payload["info"].get("prompt", 0),
                "output_tokens": payload["info"].get("completion", 0),
            }
            total = {key: value + last.get(key, 0) for key, value in total.items()}
        if total.get("total_tokens", 0) < last.get("total_tokens", 0):
            last = {}
        if not last and "last_token_usage" in payload["info"]:
            # A thread may begin with the total of its parent.
            last = {key: value - payload["info"]["last_token_usage"].get(key, 0) for key, value in total.items()}
        if index >= start:
            grown = {key: value - last.get(key, 0) for key, value in total.items()}
            tally["input"] += (
                grown["input_tokens"] - grown.get("cached_input_tokens", 0) - grown.get("cache_write_input_tokens", 0)
            )
            tally["cache_read"] += grown.get("cached_input_tokens", 0)
            tally["cache_write"] += grown.get("cache_write_input_tokens", 0)
            tally["output"] += grown["output_tokens"]
            tally["reasoning"] += grown.get("reasoning_output_tokens", 0)
        last = total
