"""A chat of Gemini CLI: its header, and its messages by id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .base import Message, Record, Retracted, Session
from .gemini_parts import answers, as_block, words_in
from .parts import Totals, blocks_of, body, list_of, said, tool_call
from .source import Source
from .texts import count_of, is_injected, when, words_of

_CONTEXT = (
    "This is the Gemini CLI. We are setting up the context",
    "<session_context",
    "<hook_context",
    "<state_snapshot",
)
_RECENT = 50
_HEADER = ("sessionId", "projectHash", "startTime", "lastUpdated", "summary", "directories", "kind")

Lookup = Callable[[Path, Mapping[str, Any]], str | None]


class Chat:
    """Everything that must survive until the next import is in the source's carry."""

    def __init__(self, source: Source, project_of: Lookup) -> None:
        self.path = source.path
        self.project_of = project_of
        self.carry = source.carry
        for name, value in (("header", {}), ("order", {}), ("used", {}), ("totals", {}), ("begun", False)):
            self.carry.setdefault(name, value)

    @property
    def header(self) -> dict[str, Any]:
        header: dict[str, Any] = self.carry["header"]
        return header

    def record(self, record: dict[str, Any]) -> Iterator[Record]:
        if isinstance(record.get("$set"), dict):
            yield from self.change(record["$set"])
        elif "$rewindTo" in record:
            yield from self._rewind(record["$rewindTo"])
        elif "sessionId" in record and "type" not in record:
            yield from self.change(record)
        else:
            yield from self._message(record)

    def change(self, header: Mapping[str, Any]) -> Iterator[Record]:
        """Take over a header; the messages in it are all there are."""
        self.header.update({name: header[name] for name in _HEADER if name in header})
        if self.carry["begun"]:
            yield self._session()
        messages = header.get("messages")
        if not isinstance(messages, list):
            return
        stay = {words_of(message.get("id")) for message in messages if isinstance(message, dict)}
        yield from self._retract([name for name in self.carry["order"] if name not in stay])
        for message in messages:
            if isinstance(message, dict):
                yield from self._message(message)

    def rest(self) -> Iterator[Record]:
        if self.carry["begun"]:
            yield self._session()
            if self.carry["totals"]:
                yield Totals.usage(self.carry["totals"], self._id(), "gemini-cli")

    def _id(self) -> str:
        return words_of(self.header.get("sessionId")) or self.path.stem

    def _is_subagent(self) -> bool:
        return self.header.get("kind") == "subagent"

    def _session(self) -> Session:
        title = words_of(self.header.get("summary"))
        links: dict[str, Any] = {}
        if self._is_subagent():
            links = {"parent_native_id": self.path.parent.name, "relation": "subagent", "source": "subagent"}
        return Session(
            self._id(),
            title=title,
            title_source="agent" if title else None,
            started_at=when(self.header.get("startTime")),
            cwd=self.project_of(self.path, self.header),
            model=self.carry.get("model"),
            **links,
        )

    def _rewind(self, name: Any) -> Iterator[Record]:
        names = list(self.carry["order"])
        if name in names:
            yield from self._retract(names[names.index(name) :])

    def _retract(self, names: list[str]) -> Iterator[Record]:
        if names:
            yield Retracted([made for name in names for made in self.carry["order"].pop(name)], self._id())

    def _message(self, message: dict[str, Any]) -> Iterator[Record]:
        if not self.carry["begun"]:
            self.carry["begun"] = True
            yield self._session()
        made = list(self._messages(message))
        if name := words_of(message.get("id")):
            names = [each.native_id for each in made if each.native_id]
            known = self.carry["order"].get(name, ())
            self.carry["order"][name] = list(dict.fromkeys([*known, *names]))
        yield from made

    def _messages(self, message: dict[str, Any]) -> Iterator[Message]:
        kind = message.get("type")
        if kind == "user":
            yield from self._user(message)
        elif kind == "gemini":
            yield from self._gemini(message)
        elif kind in ("info", "error", "warning") and (text := words_in(message.get("content"))):
            yield self._made("system", text, message, injected=True, metadata={"kind": kind})
        else:
            yield self._made("meta", message, message, injected=True)

    def _made(self, role: str, content: Any, message: Mapping[str, Any], tail: str = "", **fields: Any) -> Message:
        name = words_of(message.get("id"))
        moment = fields.pop("timestamp", None) or when(message.get("timestamp"))
        return Message(role, content, moment, None if name is None else name + tail, self._id(), **fields)

    def _user(self, message: dict[str, Any]) -> Iterator[Message]:
        parts = blocks_of(message.get("content"))
        for number, part in enumerate(parts):
            if isinstance(response := part.get("functionResponse"), dict):
                yield self._answered(message, number, response.get("id"), response.get("name"), answers([part]))
        spoken = [as_block(part) for part in parts if "functionResponse" not in part]
        if not spoken:
            return
        content = body(spoken)
        shown = words_in(message.get("displayContent"))
        if shown and shown != content:
            # What was typed; the program put files and the like into what was sent.
            yield self._made("user", content, message, "#sent", injected=True)
            content = shown
        context = isinstance(content, str) and (not content.strip() or _is_context(content))
        yield self._made("user", content, message, injected=context or self._is_subagent())

    def _gemini(self, message: dict[str, Any]) -> Iterator[Message]:
        used = _used(message.get("tokens"))
        self._count(words_of(message.get("id")), used)
        self.carry["model"] = model = words_of(message.get("model")) or self.carry.get("model")
        calls = [call for call in list_of(message.get("toolCalls")) if isinstance(call, dict)]
        yield self._made(
            "assistant",
            body([as_block(part) for part in blocks_of(message.get("content"))]) or None,
            message,
            reasoning=said(map(_thought, list_of(message.get("thoughts")))) or None,
            tool_calls=[tool_call(call.get("id"), call.get("name"), call.get("args")) for call in calls] or None,
            model=model,
            provider="google",
            input_tokens=used.get("input_tokens"),
            output_tokens=used.get("output_tokens"),
        )
        for number, call in enumerate(calls):
            if call.get("result") or call.get("resultDisplay"):
                answer = answers(call.get("result")) or words_in(call.get("resultDisplay"))
                yield self._answered(message, number, call.get("id"), call.get("name"), answer, call)

    def _answered(
        self, message: Mapping[str, Any], number: int, call_id: Any, name: Any, content: Any, call: Any = None
    ) -> Message:
        facts = {}
        if isinstance(call, dict) and call.get("status") in ("error", "cancelled"):
            facts = {"is_error": True, "status": call["status"]}
        return self._made(
            "tool",
            content,
            message,
            f"#{number}",
            timestamp=when(call.get("timestamp")) if isinstance(call, dict) else None,
            tool_call_id=words_of(call_id),
            tool_name=words_of(name),
            metadata=facts or None,
        )

    def _count(self, name: str | None, used: dict[str, Any]) -> None:
        """A message that comes again counts by what it says last."""
        if not used:
            return
        Totals.add(self.carry["totals"], used, less=self.carry["used"].get(name))
        if name is not None:
            self.carry["used"][name] = used
            for old in list(self.carry["used"])[:-_RECENT]:
                del self.carry["used"][old]


def _is_context(text: str) -> bool:
    return is_injected(text) or text.lstrip().startswith(_CONTEXT)


def _thought(thought: Any) -> str:
    if not isinstance(thought, dict):
        return str(thought)
    subject, description = words_of(thought.get("subject")), words_of(thought.get("description"))
    return "\n".join(filter(None, (f"**{subject}**" if subject else None, description)))


def _used(tokens: Any) -> dict[str, Any]:
    if not isinstance(tokens, dict):
        return {}
    cached, thoughts = count_of(tokens.get("cached")), count_of(tokens.get("thoughts"))
    return {
        "input_tokens": max(count_of(tokens.get("input")) - cached, 0) + count_of(tokens.get("tool")),
        "output_tokens": count_of(tokens.get("output")) + thoughts,
        "cache_read_tokens": cached,
        "reasoning_tokens": thoughts,
    }
