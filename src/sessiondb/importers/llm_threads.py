"""Threads of llm: messages with parts, known by their hash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .base import Message, Record, Session, Usage
from .databases import decoded
from .llm_responses import result
from .parts import body, list_of, object_of, said, tool_call
from .source import ForeignTables
from .texts import count_of, when, words_of

_ROLES = frozenset({"user", "assistant", "system"})


class Threads:
    def __init__(self, tables: ForeignTables) -> None:
        self.tables = tables
        self.turns: dict[str, list[dict[str, Any]]] = {}
        for turn in tables.rows("turns", order=("datetime_utc", "id")):
            self.turns.setdefault(str(turn["thread_id"]), []).append(turn)

    @property
    def turn_ids(self) -> Iterator[Any]:
        return (turn["id"] for turns in self.turns.values() for turn in turns)

    def sessions(self) -> list[dict[str, Any]]:
        return list(self.tables.rows("threads", order=("datetime_utc", "id")))

    def records(self, thread: Mapping[str, Any]) -> Iterator[Record]:
        native_id = str(thread["id"])
        turns = self.turns.get(native_id, [])
        chain = self._chain(thread.get("tip_message_hash"))
        if not chain:
            return
        forked = words_of(thread.get("forked_from"))
        title = words_of(thread.get("name"))
        yield Session(
            native_id,
            source="cli",
            title=title,
            title_source="first_prompt" if title else None,
            started_at=when(turns[0]["datetime_utc"]) if turns else when(thread.get("datetime_utc")),
            model=words_of(turns[-1].get("model")) if turns else None,
            parent_native_id=forked,
            relation="fork" if forked else None,
        )
        told = {turn.get(name): turn for name in ("parent_message_hash", "tip_message_hash") for turn in turns}
        moment = None
        for message in chain:
            turn = told.get(message["hash"], {})
            moment = when(turn.get("datetime_utc")) or moment
            yield from self._messages(message, moment, turn if turn.get("tip_message_hash") == message["hash"] else {})
        yield Usage(
            sum(count_of(turn.get("input_tokens")) for turn in turns),
            sum(count_of(turn.get("output_tokens")) for turn in turns),
        )

    def _chain(self, tip: Any) -> list[dict[str, Any]]:
        """The messages of a thread, first to last."""
        found: list[dict[str, Any]] = []
        seen: set[Any] = set()
        while tip is not None and tip not in seen:
            seen.add(tip)
            rows = list(self.tables.rows("messages", equal={"hash": tip}))
            found += rows
            tip = rows[0].get("parent_hash") if rows else None
        return found[::-1]

    def _messages(self, row: Mapping[str, Any], moment: float | None, turn: Mapping[str, Any]) -> Iterator[Message]:
        parts = [self._part(each) for each in self.tables.rows("parts", equal={"message_hash": row["hash"]},
                                                              order=("position", "id"))]  # fmt: skip
        name, role = str(row["hash"]), words_of(row.get("role"))
        spoken = [part for part in parts if part["type"] not in ("reasoning", "tool_call", "tool_result")]
        calls = [
            tool_call(part.get("tool_call_id"), part.get("name"), part.get("arguments"))
            for part in parts
            if part["type"] == "tool_call"
        ]
        thoughts = said(words_of(part.get("text")) or "" for part in parts if part["type"] == "reasoning")
        if spoken or calls or thoughts:
            yield Message(
                role if role in _ROLES else "meta",
                body(spoken) or None,
                moment,
                name,
                tool_calls=calls or None,
                reasoning=thoughts or None,
                model=words_of(turn.get("resolved_model")) or words_of(turn.get("model")),
                input_tokens=count_of(turn.get("input_tokens")) or None,
                output_tokens=count_of(turn.get("output_tokens")) or None,
                injected=role not in ("user", "assistant"),
            )
        for number, part in enumerate(part for part in parts if part["type"] == "tool_result"):
            yield result(part, moment, f"{name}#{number}")

    def _part(self, row: Mapping[str, Any]) -> dict[str, Any]:
        part = {**object_of(decoded(row.get("payload"))), "type": str(row.get("type"))}
        if row.get("text") is not None:
            part["text"] = row["text"]
        elif "text_ref" in part:
            part["text"] = "".join(map(self._piece, list_of(part.pop("text_ref"))))
        return part

    def _piece(self, piece: Any) -> str:
        """A piece of a text: itself, or a fragment that was put in."""
        values = object_of(piece)
        if "literal" in values:
            return str(values["literal"])
        rows = self.tables.rows("fragments", equal={"id": values.get("fragment")})
        return "".join(str(row.get("content") or "") for row in rows)
