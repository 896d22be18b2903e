"""Kimi Code: `~/.kimi-code/sessions/<directory>/<id>/agents/<agent>/wire.jsonl`, with `state.json` above it.

Prompts are messages (`turn.prompt` and `turn.steer` repeat them); an answer is a step: its pieces of text and thought
and its calls, from `step.begin` on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import packed
from .base import Message, Record, Session
from .cline_tasks import read_json
from .parts import Totals, blocks_of, body, object_of, said, tool_call
from .source import Source, first_objects
from .texts import count_of, is_injected, when, words_of

NAME = "kimi-code"
_WIRE = "wire.jsonl"
_STEP = "context.append_loop_event"
_MESSAGE = "context.append_message"
_TOKENS = {
    "input_tokens": "inputOther", "output_tokens": "output", "cache_read_tokens": "inputCacheRead",
    "cache_write_tokens": "inputCacheCreation",
}  # fmt: skip


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return [home / ".kimi-code" / "sessions"]


def find(root: Path) -> Iterator[Path]:
    yield from packed.beside(root, f"**/{_WIRE}")


def detect(path: Path, head: bytes) -> bool:
    first = next(iter(first_objects(head, 1)), {})
    return path.suffix == ".jsonl" and first.get("type") == "metadata" and "protocol_version" in first


def read(source: Source) -> Iterator[Record]:
    wire = _Wire(source)
    yield from source.each(wire.record)
    yield from wire.rest()


class _Wire:
    """Everything that must survive until the next import is in the source's carry."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.carry = source.carry
        for name, value in (("facts", {}), ("totals", {}), ("step", None), ("count", 0), ("tools", {})):
            self.carry.setdefault(name, value)
        above = self.path.parents
        in_place = self.path.name == _WIRE and len(above) > 2 and above[1].name == "agents"
        self.directory = above[2] if in_place else None
        self.agent = above[0].name if in_place else "main"

    @property
    def _id(self) -> str:
        if self.directory is None:
            return self.path.stem
        return self.directory.name if self.agent == "main" else f"{self.agent}:{self.directory.name}"

    def record(self, record: Mapping[str, Any]) -> Iterator[Record]:
        kind, facts = record.get("type"), self.carry["facts"]
        if kind == "metadata":
            facts["started_at"] = when(record.get("created_at"))
        elif kind in ("config.update", "profile.bind"):
            disclosed = object_of(record.get("environmentDisclosure"))
            facts["system_prompt"] = words_of(record.get("systemPrompt")) or facts.get("system_prompt")
            facts["cwd"] = words_of(disclosed.get("cwd")) or facts.get("cwd")
        elif kind == "llm.request":
            facts["model"] = words_of(record.get("model")) or facts.get("model")
        elif isinstance(kind, str) and kind.startswith("context."):
            if not self.carry.get("begun"):
                self.carry["begun"] = True
                yield self._session()
            yield from self._messages(record)

    def rest(self) -> Iterator[Record]:
        if self.carry.get("begun"):
            yield from self._so_far()
            yield self._session()
            if self.carry["totals"]:
                yield Totals.usage(self.carry["totals"], self._id, NAME)

    def _session(self) -> Session:
        facts = self.carry["facts"]
        state = object_of(read_json(self.directory / "state.json")) if self.directory is not None else {}
        is_main = self.agent == "main"
        title = words_of(state.get("title")) if is_main else None
        return Session(
            self._id,
            source="cli" if is_main else "subagent",
            title=title,
            title_source="agent" if title else None,
            started_at=facts.get("started_at"),
            model=facts.get("model"),
            system_prompt=facts.get("system_prompt"),
            cwd=facts.get("cwd") or words_of(state.get("workDir")),
            parent_native_id=None if is_main or self.directory is None else self.directory.name,
            relation=None if is_main else "subagent",
        )

    def _fields(self, record: Mapping[str, Any]) -> dict[str, Any]:
        self.carry["count"] += 1
        return {"timestamp": when(record.get("time")), "native_id": str(self.carry["count"]), "session": self._id}

    def _messages(self, record: Mapping[str, Any]) -> Iterator[Message]:
        if record.get("type") == _STEP:
            yield from self._event(object_of(record.get("event")), record)
            return
        yield from self._close()
        fields = self._fields(record)
        if record.get("type") == "context.apply_compaction":
            facts = {"kind": "compaction"}
            yield Message("system", words_of(record.get("summary")) or "", injected=True, metadata=facts, **fields)
        elif record.get("type") == _MESSAGE:
            yield self._said(object_of(record.get("message")), fields)
        else:
            yield Message("meta", dict(record), injected=True, **fields)

    def _is_note(self, message: Mapping[str, Any]) -> bool:
        """Whether a program wrote it: another kind of origin, or the task that the main agent gave."""
        kind = words_of(object_of(message.get("origin")).get("kind")) or "user"
        return kind != "user" or self.agent != "main"

    def _said(self, message: Mapping[str, Any], fields: dict[str, Any]) -> Message:
        role, content = words_of(message.get("role")), body(blocks_of(message.get("content")))
        if role == "user":
            return Message("user", content, injected=self._is_note(message) or is_injected(content), **fields)
        if role == "assistant":
            return Message("assistant", content or None, **fields)
        return Message("meta", dict(message), injected=True, **fields)

    def _event(self, event: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[Message]:
        kind = event.get("type")
        if kind == "step.begin":
            yield from self._close()
            self.carry["step"] = self._new_step(record)
        elif kind == "content.part":
            self._open(record)["parts"].append(object_of(event.get("part")))
        elif kind == "tool.call":
            call = tool_call(event.get("toolCallId"), event.get("name"), event.get("args"))
            self._open(record)["calls"].append(call)
            self.carry["tools"][call["id"] or ""] = call["function"]["name"]
        elif kind == "tool.result":
            yield from self._close()
            yield self._result(event, self._fields(record))
        elif kind == "step.end":
            self._add(object_of(event.get("usage")))
            yield from self._close()

    def _new_step(self, record: Mapping[str, Any]) -> dict[str, Any]:
        return {**self._fields(record), "parts": [], "calls": []}

    def _open(self, record: Mapping[str, Any]) -> dict[str, Any]:
        step: dict[str, Any] = self.carry["step"] or self._new_step(record)
        self.carry["step"] = step
        return step

    def _so_far(self) -> Iterator[Message]:
        step = self.carry["step"]
        if step is not None and (step["parts"] or step["calls"]):
            spoken = [part for part in step["parts"] if part.get("type") != "think"]
            yield Message(
                "assistant",
                body(spoken) or None,
                step["timestamp"],
                step["native_id"],
                self._id,
                reasoning=said(words_of(part.get("think")) or "" for part in step["parts"]) or None,
                tool_calls=list(step["calls"]) or None,
                model=self.carry["facts"].get("model"),
            )

    def _close(self) -> Iterator[Message]:
        yield from self._so_far()
        self.carry["step"] = None

    def _result(self, event: Mapping[str, Any], fields: dict[str, Any]) -> Message:
        call_id, result = words_of(event.get("toolCallId")), event.get("result")
        given = object_of(result).get("output", result)
        return Message(
            "tool",
            body(blocks_of(given)),
            tool_call_id=call_id,
            tool_name=self.carry["tools"].pop(call_id or "", None),
            metadata={"is_error": True} if object_of(result).get("isError") else None,
            **fields,
        )

    def _add(self, usage: Mapping[str, Any]) -> None:
        if usage:
            Totals.add(self.carry["totals"], {ours: count_of(usage.get(theirs)) for ours, theirs in _TOKENS.items()})
