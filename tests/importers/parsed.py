"""What a parser made of a source, counted as `counts` counts the raw files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sessiondb.importers.base import Message, Record, Retracted, Session, Skipped, Usage
from sessiondb.importers.source import Source

from .counts.tally import empty

TOKENS = {
    "input": "input_tokens", "output": "output_tokens", "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens", "reasoning": "reasoning_tokens",
}  # fmt: skip


class Parsed:
    """Sessions and messages as a store would hold them: what comes again replaces what was there."""

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, Any]] = {}
        self.messages: dict[str, dict[Any, Message]] = {}
        self.usage: dict[str, Usage] = {}
        self.skipped: list[Skipped] = []

    def read(self, parser: Any, path: Path) -> Parsed:
        return self.take(parser.read(Source(path)))

    def take(self, records: Iterable[Record]) -> Parsed:
        current = ""
        occurrences: dict[Any, int] = {}
        for record in records:
            if isinstance(record, Session):
                current = record.native_id
                known = self.sessions.setdefault(current, {})
                known.update({name: value for name in record.__slots__ if (value := getattr(record, name)) is not None})
            elif isinstance(record, Message):
                owner = record.session or current
                assert owner in self.sessions, f"a message before its session {owner}"
                key: Any = record.native_id
                if key is None:
                    content = (record.role, repr(record.content), record.timestamp)
                    occurrences[owner, content] = occurrences.get((owner, content), 0) + 1
                    key = (content, occurrences[owner, content])
                self.messages.setdefault(owner, {})[key] = record
            elif isinstance(record, Retracted):
                for name in record.native_ids:
                    self.messages[record.session or current].pop(name, None)
            elif isinstance(record, Usage):
                self.usage[record.session or current] = record
            elif isinstance(record, Skipped):
                self.skipped.append(record)
        return self

    def of(self, native_id: str) -> list[Message]:
        """The messages that are part of the conversation."""
        return [message for message in self.messages.get(native_id, {}).values() if message.active]

    def tallies(self) -> dict[str, dict[str, Any]]:
        return {name: self._tally(name) for name in self.sessions}

    def _tally(self, name: str) -> dict[str, Any]:
        tally = empty()
        for message in self.of(name):
            tally["human"] += message.role == "user" and not message.injected
            tally["assistant"] += message.role == "assistant" and bool(message.content)
            tally["tool_calls"] += len(message.tool_calls or ())
            tally["tool_results"] += message.role == "tool"
        usage = self.usage.get(name, Usage())
        tally.update({short: getattr(usage, field) for short, field in TOKENS.items()})
        session = self.sessions[name]
        tally["title"], tally["relation"] = session.get("title"), session.get("relation")
        tally["parent"] = session.get("parent_native_id")
        return tally
