"""Qwen Code: `~/.qwen/projects/<project>/chats/<id>.jsonl`; a fork of Gemini CLI with lines like Claude Code's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import packed
from .base import Message, Record, Session
from .gemini_parts import answers, as_block, words_in
from .parts import Totals, blocks_of, body, object_of, said, tool_call
from .source import Source, first_objects
from .texts import count_of, is_injected, when, words_of

NAME = "qwen-code"
_KINDS = frozenset({"user", "assistant", "tool_result", "system"})
_CONTEXT = "<qwen:"
_QUIET = frozenset({"ui_telemetry", "file_history_snapshot"})


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return [home / ".qwen" / "projects"]


def find(root: Path) -> Iterator[Path]:
    yield from packed.beside(root, "*/chats/**/*.jsonl")


def detect(path: Path, head: bytes) -> bool:
    if path.suffix != ".jsonl":
        return False
    return any(
        words_of(each.get("type")) in _KINDS and "sessionId" in each and "parts" in object_of(each.get("message"))
        for each in first_objects(head, 5)
    )


def read(source: Source) -> Iterator[Record]:
    carry = source.carry
    carry.setdefault("facts", {})
    carry.setdefault("totals", {})
    yield from source.each(lambda record: _record(record, carry, source.path))
    if carry["facts"]:
        yield Session(**carry["facts"])
        if carry["totals"]:
            yield Totals.usage(carry["totals"], carry["facts"]["native_id"], NAME)


def _record(record: Mapping[str, Any], carry: dict[str, Any], path: Path) -> Iterator[Record]:
    kind, name = words_of(record.get("type")), words_of(record.get("uuid"))
    if kind is None or words_of(record.get("subtype")) in _QUIET:
        return
    if not carry["facts"]:
        carry["facts"] = {
            "native_id": words_of(record.get("sessionId")) or path.stem,
            "source": "cli",
            "started_at": when(record.get("timestamp")),
        }
        _learn(record, carry)
        yield Session(**carry["facts"])
    _learn(record, carry)
    parts = blocks_of(object_of(record.get("message")).get("parts"))
    moment, owner = when(record.get("timestamp")), carry["facts"]["native_id"]
    fields: dict[str, Any] = {"timestamp": moment, "native_id": name, "session": owner}
    if kind == "user":
        yield from _prompt(record, parts, fields)
    elif kind == "assistant":
        yield _answer(record, parts, fields, carry)
    elif kind == "tool_result":
        yield from _results(record, parts, fields)
    elif kind == "system" and (text := words_in(parts)):
        yield Message("system", text, injected=True, **fields)
    else:
        yield Message("meta", dict(record), injected=True, **fields)


def _learn(record: Mapping[str, Any], carry: dict[str, Any]) -> None:
    for ours, theirs in (("cwd", "cwd"), ("git_branch", "gitBranch"), ("model", "model")):
        if value := words_of(record.get(theirs)):
            carry["facts"][ours] = value


def _prompt(record: Mapping[str, Any], parts: list[dict[str, Any]], fields: dict[str, Any]) -> Iterator[Message]:
    by_program = words_of(record.get("subtype")) is not None
    notes = [part for part in parts if _is_context(part)]
    own = [as_block(part) for part in parts if not _is_context(part)]
    if notes:
        yield Message("user", body(notes), injected=True, **_named(fields, "note" if own else None))
    if own:
        yield Message("user", body(own), injected=by_program, **fields)


def _is_context(part: dict[str, Any]) -> bool:
    text = words_of(part.get("text"))
    return text is not None and (is_injected(text) or text.lstrip().startswith(_CONTEXT))


def _named(fields: dict[str, Any], tail: str | int | None) -> dict[str, Any]:
    name = fields["native_id"]
    return fields if tail is None or name is None else {**fields, "native_id": f"{name}#{tail}"}


def _answer(
    record: Mapping[str, Any], parts: list[dict[str, Any]], fields: dict[str, Any], carry: dict[str, Any]
) -> Message:
    calls = [object_of(part["functionCall"]) for part in parts if "functionCall" in part]
    spoken = [as_block(part) for part in parts if "functionCall" not in part and not part.get("thought")]
    used = _used(object_of(record.get("usageMetadata")))
    if used:
        Totals.add(carry["totals"], used)
    return Message(
        "assistant",
        body(spoken) or None,
        tool_calls=[tool_call(call.get("id"), call.get("name"), call.get("args")) for call in calls] or None,
        reasoning=said(words_in(part) for part in parts if part.get("thought")) or None,
        model=words_of(record.get("model")),
        input_tokens=used.get("input_tokens"),
        output_tokens=used.get("output_tokens"),
        **fields,
    )


def _results(record: Mapping[str, Any], parts: list[dict[str, Any]], fields: dict[str, Any]) -> Iterator[Message]:
    failed = object_of(record.get("toolCallResult")).get("status") in ("error", "cancelled")
    for number, part in enumerate(parts):
        response = object_of(part.get("functionResponse"))
        yield Message(
            "tool",
            answers([part]),
            tool_call_id=words_of(response.get("id")),
            tool_name=words_of(response.get("name")),
            metadata={"is_error": True} if failed else None,
            **_named(fields, number or None),
        )


def _used(usage: Mapping[str, Any]) -> dict[str, Any]:
    if not usage:
        return {}
    cached, thoughts = count_of(usage.get("cachedContentTokenCount")), count_of(usage.get("thoughtsTokenCount"))
    return {
        "input_tokens": max(count_of(usage.get("promptTokenCount")) - cached, 0),
        "output_tokens": count_of(usage.get("candidatesTokenCount")) + thoughts,
        "cache_read_tokens": cached,
        "reasoning_tokens": thoughts,
    }
