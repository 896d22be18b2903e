"""Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, before 1.0.11 `<id>.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import packed
from .base import Message, Record, Session, Usage
from .parts import blocks_of, body, list_of, object_of, tool_call
from .source import Source, first_objects
from .texts import count_of, is_injected, when, words_of

NAME = "copilot-cli"
_EVENTS = "events.jsonl"
_NAMES = ("session.", "user.", "assistant.", "tool.", "system.", "abort", "hook.")
# Beginnings, ends and settings; what they tell is in the other events.
_QUIET = frozenset(
    {
        "session.start", "session.model_change", "session.shutdown", "session.mode_changed", "session.info",
        "session.resume", "session.task_complete", "assistant.turn_start", "assistant.turn_end",
        "tool.execution_start", "hook.start", "hook.end",
    }
)  # fmt: skip
_TOKENS = {
    "input_tokens": "inputTokens", "output_tokens": "outputTokens", "cache_read_tokens": "cacheReadTokens",
    "cache_write_tokens": "cacheWriteTokens", "reasoning_tokens": "reasoningTokens",
}  # fmt: skip


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    named = env.get("COPILOT_HOME")
    return [(Path(named).expanduser() if named else home / ".copilot") / "session-state"]


def find(root: Path) -> Iterator[Path]:
    yield from packed.beside(root, "*.jsonl")
    yield from packed.beside(root, f"*/{_EVENTS}")


def detect(path: Path, head: bytes) -> bool:
    if path.suffix != ".jsonl":
        return False
    return any(
        isinstance(each.get("data"), dict) and "parentId" in each and str(each.get("type")).startswith(_NAMES)
        for each in first_objects(head, 5)
    )


def read(source: Source) -> Iterator[Record]:
    events = _Events(source)
    yield from source.each(events.event)
    yield from events.rest()


class _Events:
    """Everything that must survive until the next import is in the source's carry."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.carry = source.carry
        self.carry.setdefault("facts", {})
        self.carry.setdefault("totals", {})
        self.carry.setdefault("tools", {})

    @property
    def _id(self) -> str:
        named = self.path.parent.name if self.path.name == _EVENTS else self.path.stem
        return str(self.carry["facts"].get("id") or named)

    def event(self, event: Mapping[str, Any]) -> Iterator[Record]:
        kind, data = words_of(event.get("type")), object_of(event.get("data"))
        if kind == "session.start":
            self._start(data)
        elif kind == "session.model_change":
            self.carry["facts"]["model"] = words_of(data.get("newModel")) or self.carry["facts"].get("model")
        elif kind == "session.shutdown":
            self._add(data)
        elif kind == "tool.execution_start" and (call_id := words_of(data.get("toolCallId"))):
            # Also tools that no message asked for.
            self.carry["tools"][call_id] = words_of(data.get("toolName"))
        if kind is None or kind in _QUIET:
            return
        if not self.carry.get("begun"):
            self.carry["begun"] = True
            yield self._session()
        yield from self._messages(kind, data, event)

    def rest(self) -> Iterator[Record]:
        if self.carry.get("begun"):
            yield self._session()
            if self.carry["totals"]:
                yield Usage(**self.carry["totals"], session=self._id)

    def _start(self, data: Mapping[str, Any]) -> None:
        context = object_of(data.get("context"))
        self.carry["facts"] |= {
            "id": words_of(data.get("sessionId")),
            "started_at": when(data.get("startTime")),
            "cwd": words_of(context.get("cwd")),
            "git_branch": words_of(context.get("branch")),
            "repository": words_of(context.get("repository")),
            "version": words_of(data.get("copilotVersion")),
        }

    def _session(self) -> Session:
        facts = self.carry["facts"]
        title = _title(self.path) if self.path.name == _EVENTS else None
        kept = {name: facts[name] for name in ("repository", "version") if facts.get(name)}
        return Session(
            self._id,
            source="cli",
            title=title,
            title_source="agent" if title else None,
            started_at=facts.get("started_at"),
            cwd=facts.get("cwd"),
            git_branch=facts.get("git_branch"),
            model=facts.get("model"),
            metadata=kept or None,
        )

    def _add(self, data: Mapping[str, Any]) -> None:
        """Every end of a run tells what that run used."""
        totals = self.carry["totals"]
        for metrics in map(object_of, object_of(data.get("modelMetrics")).values()):
            used = object_of(metrics.get("usage"))
            counts = {ours: count_of(used.get(theirs)) for ours, theirs in _TOKENS.items()}
            counts["input_tokens"] = max(
                counts["input_tokens"] - counts["cache_read_tokens"] - counts["cache_write_tokens"], 0
            )
            for name, value in counts.items():
                totals[name] = totals.get(name, 0) + value

    def _messages(self, kind: str, data: Mapping[str, Any], event: Mapping[str, Any]) -> Iterator[Message]:
        fields: dict[str, Any] = {
            "timestamp": when(event.get("timestamp")),
            "native_id": words_of(event.get("id")),
            "session": self._id,
        }
        if kind == "user.message":
            yield _prompt(data, fields)
        elif kind == "assistant.message":
            yield self._answer(data, fields)
        elif kind == "tool.execution_complete":
            yield self._result(data, fields)
        elif kind == "system.message":
            yield Message("system", words_of(data.get("content")) or "", injected=True, **fields)
        else:
            yield Message("meta", dict(event), injected=True, **fields)

    def _answer(self, data: Mapping[str, Any], fields: dict[str, Any]) -> Message:
        requests = [each for each in list_of(data.get("toolRequests")) if isinstance(each, dict)]
        calls = [tool_call(each.get("toolCallId"), each.get("name"), each.get("arguments")) for each in requests]
        for call in calls:
            self.carry["tools"][call["id"] or ""] = call["function"]["name"]
        return Message(
            "assistant",
            words_of(data.get("content")),
            tool_calls=calls or None,
            reasoning=words_of(data.get("reasoningText")),
            model=self.carry["facts"].get("model"),
            output_tokens=count_of(data.get("outputTokens")) or None,
            **fields,
        )

    def _result(self, data: Mapping[str, Any], fields: dict[str, Any]) -> Message:
        call_id = words_of(data.get("toolCallId"))
        result, error = data.get("result"), object_of(data.get("error"))
        given = object_of(result).get("content", result) if result is not None else error.get("message")
        return Message(
            "tool",
            body(blocks_of(given)),
            tool_call_id=call_id,
            tool_name=self.carry["tools"].pop(call_id or "", None),
            metadata=None if data.get("success", True) else {"is_error": True},
            **fields,
        )


def _prompt(data: Mapping[str, Any], fields: dict[str, Any]) -> Message:
    """What was typed; without that, what the program sent on its own."""
    typed = words_of(data.get("content"))
    text = typed or words_of(data.get("transformedContent")) or ""
    files = list_of(data.get("attachments"))
    injected = typed is None or is_injected(typed)
    return Message("user", text, injected=injected, metadata={"attachments": files} if files else None, **fields)


def _title(path: Path) -> str | None:
    """The name in `workspace.yaml`, a plain list of `key: value` lines."""
    try:
        lines = path.with_name("workspace.yaml").read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    names = [line.partition(":")[2].strip().strip("'\"") for line in lines if line.startswith("name:")]
    return names[0] or None if names else None
