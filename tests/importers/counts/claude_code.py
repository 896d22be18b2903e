"""Counts over Claude Code transcripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .tally import empty

MACHINE_WORDS = (
    "<system-reminder", "<command-", "<local-command-", "<bash-", "<task-notification", "<user-prompt-submit-hook",
    "<ide_", "<teammate-message", "[Request interrupted by user", "Caveat: The messages below were generated",
    "This session is being continued from a previous conversation",
)  # fmt: skip


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions: dict[str, dict[str, Any]] = {}
    uuids: dict[str, str] = {}
    summaries: list[tuple[str, str]] = []
    titles: dict[str, dict[str, str]] = {}
    answers: dict[tuple[str, str], list[dict[str, Any]]] = {}
    spoken = set()
    copies = copied_lines(sorted(paths))
    for path in sorted(paths):
        if path.name == "journal.jsonl":
            continue
        lines = set()
        chains: dict[str, str] = {}
        first_of: dict[str, dict[str, Any]] = {}
        left = lines_left(path)
        for number, raw in enumerate(path.read_bytes().split(b"\n")):
            try:
                record = json.loads(raw)
            except ValueError:
                continue
            if not isinstance(record, dict) or ("uuid" in record and raw in lines):
                continue
            if (path, record.get("uuid")) in copies:
                record["forkedFrom"] = {"sessionId": copies[path, record["uuid"]]}
            lines.add(raw)
            kind = record.get("type")
            if kind == "summary":
                summaries.append((record["leafUuid"], record["summary"]))
            if kind in ("custom-title", "ai-title"):
                name = record.get("customTitle") or record.get("aiTitle")
                titles.setdefault(record.get("sessionId", path.stem), {})[kind] = name
            owner = session_of(record, path, chains)
            if record.get("uuid"):
                uuids.setdefault(record["uuid"], owner)
            if owner not in first_of and kind in ("user", "assistant", "system", "attachment"):
                first_of[owner] = record
            if kind not in ("user", "assistant"):
                if kind == "attachment" and is_typed(record):
                    sessions.setdefault(owner, empty())["human"] += 1
                continue
            tally = sessions.setdefault(owner, empty())
            parent_of(tally, owner, record, first_of, uuids)
            blocks = record["message"].get("content")
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks or []
            blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
            answer = record["message"].get("id") or f"line {path} {number}"
            answer += f" of {record['message'].get('model')}"
            if isinstance(record["message"].get("usage"), dict) and "forkedFrom" not in record:
                answers.setdefault((owner, answer), []).append(record["message"]["usage"])
            if number in left:
                continue
            tally["tool_results"] += sum(block["type"] == "tool_result" for block in blocks)
            tally["tool_calls"] += sum(block["type"] in ("tool_use", "server_tool_use") for block in blocks)
            if kind == "user":
                tally["human"] += is_human(record, blocks, owner)
                continue
            if any(block["type"] == "text" and block["text"].strip() for block in blocks):
                spoken.add((owner, answer))
    for owner, _ in spoken:
        sessions[owner]["assistant"] += 1
    for (owner, _), usages in answers.items():
        add_usage(sessions[owner], max(usages, key=lambda usage: usage.get("output_tokens") or 0))
    for leaf, summary in summaries:
        if uuids.get(leaf) in sessions:
            sessions[uuids[leaf]]["title"] = summary
    for path in paths:
        about = path.with_suffix(".meta.json")
        name = path.stem.removeprefix("agent-")
        for owner, tally in sessions.items():
            if about.exists() and owner.startswith(f"agent-{name}:"):
                tally["title"] = json.loads(about.read_bytes()).get("description")
    for owner, named in titles.items():
        if owner in sessions:
            sessions[owner]["title"] = named.get("custom-title") or named.get("ai-title")
    return sessions


def lines_left(path: Path) -> set[int]:
    """The lines between a prompt and the next one with the same parent: the first was edited, and all after it left."""
    prompts: dict[tuple[str, str], int] = {}
    owners: list[str] = []
    left: set[int] = set()
    for number, raw in enumerate(path.read_bytes().split(b"\n")):
        try:
            record = json.loads(raw)
        except ValueError:
            record = {}
        owners.append(session_of(record, path, {}) if isinstance(record, dict) else "")
        if not isinstance(record, dict) or record.get("type") != "user" or not record.get("parentUuid"):
            continue
        said = record["message"].get("content")
        blocks = [{"type": "text", "text": said}] if isinstance(said, str) else said
        place = (owners[-1], record["parentUuid"])
        if record["parentUuid"] == record.get("uuid") or not is_human(record, blocks, owners[-1]):
            continue
        if place in prompts:
            left |= {each for each in range(prompts[place], number) if owners[each] == owners[-1]}
        prompts[place] = number
    return left


def copied_lines(paths: list[Path]) -> dict[tuple[Path, str], str]:
    """Records that a file has from another that begins with the same uuid and goes on earlier, or not at all."""
    files = {}
    for path in paths:
        records = []
        for line in path.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and "uuid" in record:
                records.append((record["uuid"], record["timestamp"], record.get("sessionId")))
        files[path] = records
    copies: dict[tuple[Path, str], str] = {}
    for path, own in files.items():
        longest = 0
        for other, theirs in files.items():
            same = 0
            while same < min(len(own), len(theirs)) and own[same][0] == theirs[same][0]:
                same += 1
            is_later = len(theirs) == same or (len(own) > same and own[same][1] > theirs[same][1])
            if path != other and path.parent == other.parent and same > longest and len(own) > same and is_later:
                longest = same
                copies |= {(path, record[0]): theirs[0][2] for record in own[:same]}
    return copies


def session_of(record: dict[str, Any], path: Path, chains: dict[str, str]) -> str:
    main = record.get("sessionId") or path.stem
    if not record.get("isSidechain"):
        return str(main)
    if record.get("agentId"):
        return f"agent-{record['agentId']}:{main}"
    uuid = record.get("uuid") or ""
    chains[uuid] = chains.get(record.get("parentUuid") or "", uuid)
    return f"side-{chains[uuid]}:{main}"


def parent_of(
    tally: dict[str, Any], owner: str, record: dict[str, Any], first_of: dict[str, Any], uuids: dict[str, str]
) -> None:
    if ":" in owner:
        tally["parent"], tally["relation"] = owner.partition(":")[2], "subagent"
        return
    origin = record.get("forkedFrom")
    if isinstance(origin, dict):
        tally["parent"], tally["relation"] = origin["sessionId"], "fork"
        return
    first = first_of[owner]
    before = uuids.get(first.get("logicalParentUuid") or first.get("parentUuid") or "")
    if before is not None and before.rpartition(":")[2] != owner and tally["parent"] is None:
        compacted = first.get("subtype") == "compact_boundary" or first.get("isCompactSummary")
        tally["parent"], tally["relation"] = before, "compression" if compacted else "fork"


def is_human(record: dict[str, Any], blocks: list[dict[str, Any]], owner: str) -> bool:
    if ":" in owner or any(record.get(flag) for flag in ("isMeta", "isCompactSummary", "forkedFrom")):
        return False
    if record.get("isVisibleInTranscriptOnly") or by_machine(record.get("origin")):
        return False
    return any(is_own(block) for block in blocks)


def is_own(block: dict[str, Any]) -> bool:
    if block["type"] in ("image", "document"):
        return True
    words = block.get("text", "").strip() if block["type"] == "text" else ""
    if words.startswith("<command-") and "<command-args>" in words:
        return bool(words.partition("<command-args>")[2].partition("<")[0].strip())
    return bool(words) and not words.startswith(MACHINE_WORDS)


def is_typed(record: dict[str, Any]) -> bool:
    """A prompt that was typed while the agent was busy."""
    command = record["attachment"]
    if command["type"] != "queued_command" or command.get("commandMode", "prompt") != "prompt":
        return False
    return not (command.get("isMeta") or by_machine(command.get("origin")) or record.get("isSidechain"))


def by_machine(origin: Any) -> bool:
    return isinstance(origin, dict) and ("senderTaskId" in origin or origin.get("kind") == "task-notification")


def add_usage(tally: dict[str, Any], usage: dict[str, Any]) -> None:
    tally["input"] += usage.get("input_tokens") or 0
    tally["output"] += usage.get("output_tokens") or 0
    tally["cache_read"] += usage.get("cache_read_input_tokens") or 0
    tally["cache_write"] += usage.get("cache_creation_input_tokens") or 0
    tally["reasoning"] += (usage.get("output_tokens_details") or {}).get("thinking_tokens") or 0
