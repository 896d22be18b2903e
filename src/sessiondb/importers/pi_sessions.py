"""Sessions of pi and of what is built on it: a header, then entries that name the one before them.

An entry that goes on from an earlier one takes back what had followed that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .base import Message, Record, Retracted, Session
from .block_turns import Turn
from .parts import Totals, blocks_of, body, object_of, price_of
from .source import Source, first_objects
from .texts import count_of, is_injected, when, words_of

_QUIET = frozenset({"thinking_level_change", "label"})
_SUMMARIES = frozenset({"compaction", "branch_summary"})


def has_header(head: bytes) -> bool:
    first = next(iter(first_objects(head, 1)), {})
    return first.get("type") == "session" and "version" in first and "id" in first


def read(source: Source, origin: str) -> Iterator[Record]:
    entries = _Entries(source, origin)
    yield from source.each(entries.entry)
    yield from entries.rest()


class _Entries:
    """Everything that must survive until the next import is in the source's carry."""

    def __init__(self, source: Source, origin: str) -> None:
        self.path = source.path
        self.origin = origin
        self.carry = source.carry
        for name, value in (("facts", {}), ("totals", {}), ("way", []), ("begun", False)):
            self.carry.setdefault(name, value)

    @property
    def _id(self) -> str:
        return str(self.carry["facts"].get("id") or self.path.stem)

    def entry(self, entry: Mapping[str, Any]) -> Iterator[Record]:
        kind = words_of(entry.get("type"))
        if kind == "session":
            self._header(entry)
            return
        name = words_of(entry.get("id"))
        if name is not None:
            yield from self._follow(name, words_of(entry.get("parentId")))
        if kind == "model_change":
            self.carry["facts"]["model"] = words_of(entry.get("modelId"))
        elif kind == "session_info":
            self.carry["facts"]["title"] = words_of(entry.get("name"))
        elif kind is not None and kind not in _QUIET:
            if not self.carry["begun"]:
                self.carry["begun"] = True
                yield self._session()
            made = list(self._messages(kind, name, entry))
            if name is not None:
                self.carry["way"][-1][1] = [each.native_id for each in made if each.native_id]
            yield from made

    def rest(self) -> Iterator[Record]:
        if self.carry["begun"]:
            yield self._session()
            if self.carry["totals"]:
                yield Totals.usage(self.carry["totals"], self._id, self.origin)

    def _header(self, entry: Mapping[str, Any]) -> None:
        facts = self.carry["facts"]
        facts["id"] = facts.get("id") or words_of(entry.get("id"))
        facts["started_at"] = facts.get("started_at") or when(entry.get("timestamp"))
        facts["cwd"] = words_of(entry.get("cwd")) or facts.get("cwd")
        facts["parent"] = words_of(entry.get("parentSession")) or facts.get("parent")

    def _session(self) -> Session:
        facts = self.carry["facts"]
        parent = facts.get("parent")
        return Session(
            self._id,
            source="cli",
            title=facts.get("title"),
            title_source="user" if facts.get("title") else None,
            started_at=facts.get("started_at"),
            cwd=facts.get("cwd"),
            model=facts.get("model"),
            # The file of the session that it was forked from: <time>_<id>.jsonl
            parent_native_id=parent.removesuffix(".jsonl").rpartition("_")[2] if parent else None,
            relation="fork" if parent else None,
        )

    def _follow(self, name: str, parent: str | None) -> Iterator[Retracted]:
        way: list[Any] = self.carry["way"]
        names = [each for each, _ in way]
        if parent in names and parent != names[-1]:
            left = way[names.index(parent) + 1 :]
            del way[names.index(parent) + 1 :]
            if gone := [made for _, messages in left for made in messages]:
                yield Retracted(gone, self._id)
        way.append([name, []])

    def _messages(self, kind: str, name: str | None, entry: Mapping[str, Any]) -> Iterator[Message]:
        message = object_of(entry.get("message"))
        fields: dict[str, Any] = {"timestamp": when(entry.get("timestamp")), "session": self._id}
        role = words_of(message.get("role"))
        if kind == "message" and role == "toolResult":
            yield _result(message, name, fields)
        elif kind == "message" and role in ("user", "assistant"):
            if role == "assistant":
                fields |= self._answered(message)
            yield from Turn(role, name or "", is_note=is_injected, **fields).messages(message.get("content"))
        elif kind in _SUMMARIES and (summary := words_of(entry.get("summary"))):
            yield Message("system", summary, native_id=name, injected=True, metadata={"kind": kind}, **fields)
        else:
            yield Message("meta", dict(entry), native_id=name, injected=True, **fields)

    def _answered(self, message: Mapping[str, Any]) -> dict[str, Any]:
        usage = object_of(message.get("usage"))
        used = {
            "input_tokens": count_of(usage.get("input")),
            "output_tokens": count_of(usage.get("output")),
            "cache_read_tokens": count_of(usage.get("cacheRead")),
            "cache_write_tokens": count_of(usage.get("cacheWrite")),
            "cost": price_of(object_of(usage.get("cost")).get("total")),
        }
        if usage:
            Totals.add(self.carry["totals"], used)
        model = words_of(message.get("model")) or self.carry["facts"].get("model")
        self.carry["facts"]["model"] = model
        return {
            "model": model,
            "provider": words_of(message.get("provider")),
            "finish_reason": words_of(message.get("stopReason")),
            "input_tokens": used["input_tokens"] or None,
            "output_tokens": used["output_tokens"] or None,
        }


def _result(message: Mapping[str, Any], name: str | None, fields: Mapping[str, Any]) -> Message:
    return Message(
        "tool",
        body(blocks_of(message.get("content"))),
        native_id=name,
        tool_call_id=words_of(message.get("toolCallId")),
        tool_name=words_of(message.get("toolName")),
        metadata={"is_error": True} if message.get("isError") else None,
        **fields,
    )
