"""The answer of `session_search` in the shape that the first tool of that name had."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

PREVIEW_LENGTH = 500
NO_SUMMARY = "[Raw preview - summarization unavailable]"


def seed_shape(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Results with session_id, when, source, model and summary, or the recent sessions; the rest stays as it is."""
    if answer.get("mode") == "recent":
        return {**answer, "results": [_recent(each) for each in answer["results"]]}
    if answer.get("mode") != "discover":
        return dict(answer)
    results = [_result(each) for each in answer["results"]]
    shaped = {
        "success": answer["success"],
        "query": answer["query"],
        "results": results,
        "count": len(results),
        "sessions_searched": len(results),
    }
    return shaped if results else shaped | {"message": answer["message"]}


def _result(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "session_id": found["session_id"],
        "when": _spoken(found["when"]),
        "source": found["source"],
        "model": found["model"],
        "summary": found.get("summary") or _preview(found),
    }


def _recent(found: Mapping[str, Any]) -> dict[str, Any]:
    named = ("session_id", "title", "source", "last_active", "message_count", "preview")
    return {**{name: found[name] for name in named}, "started_at": found["when"]}


def _spoken(when: str) -> str:
    return datetime.fromisoformat(when).strftime("%B %d, %Y at %I:%M %p")


def _preview(found: Mapping[str, Any]) -> str:
    lines = (f"[{each['role'].upper()}]: {each['content']}" for each in found["messages"])
    return f"{NO_SUMMARY}\n" + "\n\n".join(lines)[:PREVIEW_LENGTH]
