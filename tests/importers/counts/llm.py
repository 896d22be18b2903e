"""Counts over `logs.db` of llm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .cursor import rows
from .tally import empty

CHAIN = """
    WITH RECURSIVE chain(hash) AS (
        SELECT tip_message_hash FROM threads WHERE id = ?
        UNION SELECT parent_hash FROM messages JOIN chain USING (hash)
    )
    SELECT messages.hash, role, type FROM chain JOIN messages USING (hash) JOIN parts ON message_hash = messages.hash
"""


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions: dict[str, dict[str, Any]] = {}
    for path in paths:
        names = {name for (name,) in rows(path, "SELECT name FROM sqlite_master")}
        if "threads" in names:
            sessions |= of_threads(path)
        sessions |= of_responses(path, "turns" in names)
    return sessions


def of_threads(path: Path) -> dict[str, dict[str, Any]]:
    sessions = {}
    for name, title, forked in rows(path, "SELECT id, name, forked_from FROM threads"):
        tally = sessions[name] = empty()
        tally["title"], tally["parent"], tally["relation"] = title, forked, "fork" if forked else None
        spoken = {(hash_, role) for hash_, role, kind in rows(path, CHAIN, name) if kind == "text"}
        tally["human"] = sum(role == "user" for _, role in spoken)
        tally["assistant"] = sum(role == "assistant" for _, role in spoken)
        kinds = [kind for _, _, kind in rows(path, CHAIN, name)]
        tally["tool_calls"], tally["tool_results"] = kinds.count("tool_call"), kinds.count("tool_result")
        [used] = rows(path, "SELECT TOTAL(input_tokens), TOTAL(output_tokens) FROM turns WHERE thread_id = ?", name)
        tally["input"], tally["output"] = map(int, used)
    return sessions


def of_responses(path: Path, has_turns: bool) -> dict[str, dict[str, Any]]:
    sessions: dict[str, dict[str, Any]] = {}
    told = "SELECT id, conversation_id, prompt, response, input_tokens, output_tokens FROM responses"
    for name, session, prompt, response, sent, received in rows(
        path, told + (" WHERE id NOT IN (SELECT id FROM turns)" if has_turns else "")
    ):
        tally = sessions.setdefault(session or name, empty())
        tally["title"] = dict(rows(path, "SELECT id, name FROM conversations")).get(session)
        tally["human"] += bool(prompt)
        tally["assistant"] += bool(response)
        tally["input"] += sent or 0
        tally["output"] += received or 0
        for short in ("tool_calls", "tool_results"):
            tally[short] += len(rows(path, f"SELECT id FROM {short} WHERE response_id = ?", name))
    return sessions
