"""Conversations of older versions of llm: a row per response, with the prompt before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .base import Message, Record, Session, Usage
from .parts import tool_call
from .source import ForeignTables
from .texts import count_of, when, words_of


class Responses:
    def __init__(self, tables: ForeignTables, migrated: Collection[Any]) -> None:
        self.tables = tables
        self.known = tables.tables()
        # Responses that are turns of a thread by now.
        self.migrated = migrated

    def records(self) -> Iterator[Record]:
        about = {row["id"]: row for row in self.tables.rows("conversations")}
        grouped: dict[str, list[dict[str, Any]]] = {}
        for row in self.tables.rows("responses", order=("datetime_utc", "id")):
            if row["id"] not in self.migrated:
                grouped.setdefault(str(row.get("conversation_id") or row["id"]), []).append(row)
        for native_id, rows in grouped.items():
            yield from self._conversation(native_id, about.get(native_id, {}), rows)

    def _conversation(self, native_id: str, about: Mapping[str, Any], rows: list[dict[str, Any]]) -> Iterator[Record]:
        title = words_of(about.get("name"))
        prompts = [words_of(row.get("system")) for row in rows]
        yield Session(
            native_id,
            source="cli",
            title=title,
            title_source="first_prompt" if title else None,
            started_at=_utc(rows[0].get("datetime_utc")),
            model=words_of(rows[-1].get("model")) or words_of(about.get("model")),
            system_prompt=next(filter(None, prompts), None),
        )
        for row in rows:
            yield from self._messages(row)
        yield Usage(
            sum(count_of(row.get("input_tokens")) for row in rows),
            sum(count_of(row.get("output_tokens")) for row in rows),
        )

    def _messages(self, row: Mapping[str, Any]) -> Iterator[Message]:
        name, moment = str(row["id"]), _utc(row.get("datetime_utc"))
        for each in self._rows("tool_results", row):
            yield result(each, moment, f"{name}#result{each.get('id')}")
        if prompt := words_of(row.get("prompt")):
            yield Message("user", prompt, moment, f"{name}#prompt")
        calls = [
            tool_call(call.get("tool_call_id"), call.get("name"), call.get("arguments"))
            for call in self._rows("tool_calls", row)
        ]
        yield Message(
            "assistant",
            words_of(row.get("response")),
            moment,
            name,
            tool_calls=calls or None,
            reasoning=words_of(row.get("reasoning")),
            model=words_of(row.get("resolved_model")) or words_of(row.get("model")),
            input_tokens=count_of(row.get("input_tokens")) or None,
            output_tokens=count_of(row.get("output_tokens")) or None,
        )

    def _rows(self, table: str, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if table in self.known:
            yield from self.tables.rows(table, equal={"response_id": row["id"]}, order=("id",))


def _utc(value: Any) -> float | None:
    """Times here are UTC and do not say so."""
    text = words_of(value)
    return when(value) if text is None or text.endswith("Z") or "+" in text else when(f"{text}+00:00")


def result(values: Mapping[str, Any], moment: float | None, name: str) -> Message:
    """What a tool answered, or why it failed."""
    return Message(
        "tool",
        words_of(values.get("output")) or words_of(values.get("exception")) or "",
        moment,
        name,
        tool_call_id=words_of(values.get("tool_call_id")),
        tool_name=words_of(values.get("name")),
        metadata={"is_error": True} if values.get("exception") else None,
    )
