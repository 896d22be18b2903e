"""Turns made of blocks (text, thinking, tool_use, tool_result), as Anthropic's API and its relatives have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .base import Message
from .parts import blocks_of, body, said, text_of, tool_call
from .texts import is_injected, words_of

_CALLS = frozenset({"tool_use", "server_tool_use", "toolCall"})
_THOUGHTS = frozenset({"thinking", "reasoning"})
_OPAQUE = frozenset({"redacted_thinking", "token_budget", "flag"})


class Turn:
    """One turn as messages: what was said up to a result, the result, what was said after it.

    The first message has the name of the turn, the others that name with a number: a turn that grows keeps its parts.
    """

    def __init__(self, role: str, name: str, *, is_note: Callable[[str], bool] = is_injected, **fields: Any) -> None:
        self.role = role
        self.name = name
        self.is_note = is_note
        self.fields = fields
        self.tools: dict[str, str] = {}
        self._number = 0
        self._begin()

    def _begin(self) -> None:
        self._said: list[dict[str, Any]] = []
        self._thoughts: list[str] = []
        self._calls: list[dict[str, Any]] = []

    def messages(self, content: Any) -> Iterator[Message]:
        for block in blocks_of(content):
            kind = words_of(block.get("type"))
            if kind == "tool_result":
                yield from self._flush()
                yield self._result(block)
            elif kind in _CALLS:
                self._call(block)
            elif kind in _THOUGHTS:
                self._thoughts.append(words_of(block.get("thinking")) or words_of(block.get("text")) or "")
            elif kind not in _OPAQUE:
                self._said.append(block)
        yield from self._flush()

    def _call(self, block: dict[str, Any]) -> None:
        given = block.get("input", block.get("arguments"))
        call = tool_call(words_of(block.get("id")) or f"{self.name}:{len(self.tools)}", block.get("name"), given)
        self.tools[call["id"]] = call["function"]["name"]
        self._calls.append(call)

    def _next_name(self) -> str:
        self._number += 1
        return self.name if self._number == 1 else f"{self.name}#{self._number}"

    def _flush(self) -> Iterator[Message]:
        if self.role == "assistant":
            if self._said or self._thoughts or self._calls:
                yield self._answer()
        else:
            own = [block for block in self._said if not self._is_noted(block)]
            notes = [block for block in self._said if self._is_noted(block)]
            for blocks, injected in ((own, False), (notes, True)):
                if blocks:
                    yield self._made(self.role, body(blocks), injected=injected)
        self._begin()

    def _is_noted(self, block: dict[str, Any]) -> bool:
        text = text_of(block)
        return text is not None and (not text.strip() or self.is_note(text))

    def _answer(self) -> Message:
        content = body(self._said)
        return self._made(
            "assistant",
            (said([content]) if isinstance(content, str) else content) or None,
            reasoning=said(self._thoughts) or None,
            tool_calls=list(self._calls) or None,
        )

    def _result(self, block: dict[str, Any]) -> Message:
        call_id = words_of(block.get("tool_use_id"))
        return self._made(
            "tool",
            body(blocks_of(block.get("content"))),
            tool_call_id=call_id,
            tool_name=words_of(block.get("name")) or self.tools.get(call_id or ""),
            metadata={"is_error": True} if block.get("is_error") else None,
        )

    def _made(self, role: str, content: Any, **fields: Any) -> Message:
        return Message(role, content, native_id=self._next_name(), **{**self.fields, **fields})
