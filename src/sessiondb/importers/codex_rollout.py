"""A rollout of Codex, record by record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import turns
from .base import Message, Record, Retracted, Session
from .codex_items import call_of, is_call, output_of, words_in
from .codex_prompts import Prompts
from .parts import Totals, blocks_of, body, object_of, said
from .source import Source
from .texts import count_of, when, words_of

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Copied rows carry the time of the copy; it takes less than this.
_COPYING = 2.0
_CALLS = 200
# Told by items as well, or the state of the program.
_NOISE = frozenset(
    {
        "task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted", "context_compacted",
        "exec_command_begin", "exec_command_end", "exec_command_output_delta", "patch_apply_begin", "patch_apply_end",
        "mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin", "web_search_end", "image_generation_begin",
        "image_generation_end", "view_image_tool_call", "dynamic_tool_call_request", "dynamic_tool_call_response",
        "item_started", "item_completed", "agent_reasoning_section_break", "agent_reasoning_raw_content",
        "thread_settings_applied", "thread_goal_updated", "guardian_assessment", "sub_agent_activity",
        "collab_agent_spawn_begin", "collab_agent_spawn_end", "collab_agent_interaction_begin",
        "collab_agent_interaction_end", "collab_waiting_begin", "collab_waiting_end", "collab_close_begin",
        "collab_close_end", "agent_message", "agent_reasoning", "ghost_snapshot", "world_state", "turn_diff",
        "inter_agent_communication_metadata", "security_risk_score", "undo_completed", "plan_update",
    }
)  # fmt: skip


def id_in_name(path: Path) -> str | None:
    return next(reversed(_UUID.findall(path.name)), None)


class Rollout:
    """Everything that must survive until the next import is in the source's carry."""

    def __init__(self, source: Source, titles: Mapping[str, str]) -> None:
        self.path, self.file = source.path, source.file
        self.titles = titles
        self._in_name = id_in_name(self.path)
        self.carry = source.carry
        for name, value in _beginning().items():
            self.carry.setdefault(name, value)
        self.prompts = Prompts(self.carry)

    def records(self, number: int, record: dict[str, Any]) -> Iterator[Record]:
        kind, payload = words_of(record.get("type")), record.get("payload")
        if not isinstance(payload, dict):
            return
        if kind == "session_meta":
            self._meta(payload)
            return
        self._end_of_copy(record, payload)
        self.prompts.copied_from = self._copied_from()
        if kind == "turn_context":
            self._turn(payload)
            return
        yield from self._begin(record)
        if self.carry["copying"] and self.carry["relation"] == "subagent":
            if payload.get("type") == "token_count":
                self._tokens(payload)
            return
        yield from self._spoken(number, record, payload)

    def _begin(self, record: dict[str, Any]) -> Iterator[Record]:
        if not self.carry["begun"] and record.get("type") in ("response_item", "event_msg"):
            self.carry["begun"] = True
            self.carry["info"].setdefault("started_at", when(record.get("timestamp")))
            yield self._session()

    def _spoken(self, number: int, record: dict[str, Any], payload: dict[str, Any]) -> Iterator[Record]:
        kind, item = words_of(record.get("type")), words_of(payload.get("type"))
        if kind == "response_item":
            yield from self._item(number, record, payload)
        elif kind == "event_msg":
            yield from self._event(number, record, payload)
        elif kind == "compacted" and self.carry["begun"]:
            yield from self._close()
            text = words_of(payload.get("message")) or "The context was compacted."
            yield self._message(number, record, "user", text, injected=True, metadata={"kind": "compaction summary"})
        elif self.carry["begun"] and kind not in _NOISE and item not in _NOISE:
            yield self._message(number, record, "meta", record, injected=True)

    def rest(self) -> Iterator[Record]:
        """What may still grow, and what is known of the session by the end of the file."""
        if not self.carry["begun"]:
            return
        yield from self._answer()
        yield from self._prompted()
        yield self._session()
        if self.carry["totals"]:
            yield Totals.usage(self.carry["totals"], self._id(), "codex")

    # The session

    def _id(self) -> str:
        return str(self._in_name or self.carry["id"] or self.path.stem)

    def _meta(self, meta: dict[str, Any]) -> None:
        if self.carry["id"] is not None:
            # The record of the parent, directly after our own: its history follows.
            if self.carry["metas"] == 1 and meta.get("id") != self._id():
                self.carry["copying"] = True
            return
        self.carry["id"] = words_of(meta.get("id"))
        self.carry["metas"] = 1
        self.carry["born"] = when(meta.get("timestamp"))
        info = {"cwd": words_of(meta.get("cwd")), "started_at": self.carry["born"]}
        prompt = object_of(meta.get("base_instructions")).get("text") or meta.get("instructions")
        info["system_prompt"] = words_of(prompt)
        git = object_of(meta.get("git"))
        info["git_branch"] = words_of(git.get("branch"))
        facts = {
            "version": meta.get("cli_version"),
            "originator": meta.get("originator"),
            "commit": git.get("commit_hash"),
        }
        facts["repository"] = git.get("repository_url")
        self.carry["provider"] = words_of(meta.get("model_provider"))
        self.carry["facts"] = {name: value for name, value in facts.items() if words_of(value)}
        self.carry["info"] = {name: value for name, value in info.items() if value is not None}
        self._parent(meta)

    def _parent(self, meta: dict[str, Any]) -> None:
        spawned = object_of(meta.get("source")).get("subagent")
        spawn = object_of(object_of(spawned).get("thread_spawn"))
        candidates = (spawn.get("parent_thread_id"), meta.get("parent_thread_id"), meta.get("forked_from_id"))
        parent = next(filter(None, map(words_of, candidates)), None)
        self.carry["relation"] = "subagent" if spawned else "fork" if parent else None
        self.carry["info"] |= {"parent_native_id": parent, "relation": self.carry["relation"]}
        if spawned:
            self.carry["info"]["source"] = "subagent"
            role = spawned if isinstance(spawned, str) else spawn.get("agent_role") or spawn.get("agent_nickname")
            if words_of(role):
                self.carry["facts"]["agent_type"] = role

    def _end_of_copy(self, record: dict[str, Any], payload: dict[str, Any]) -> None:
        self.carry["metas"] = 2
        if not self.carry["copying"]:
            return
        turn, moment = payload.get("turn_id"), when(record.get("timestamp"))
        if _is_timed(turn):
            if _is_timed(self._id()) and _born(str(turn)) >= _born(self._id()):
                self.carry["copying"] = False
        elif moment is not None and self.carry["born"] is not None and moment > self.carry["born"] + _COPYING:
            self.carry["copying"] = False

    def _turn(self, context: dict[str, Any]) -> None:
        self.carry["info"].setdefault("cwd", words_of(context.get("cwd")))
        if model := words_of(context.get("model")):
            self.carry["info"]["model"] = model

    def _session(self) -> Session:
        title = self.titles.get(self._id()) or self.carry["title"]
        archived = self.file.stat().st_mtime if "archived_sessions" in self.path.parts else None
        return Session(
            self._id(),
            title=title,
            title_source="user" if title else None,
            archived_at=archived,
            metadata=self.carry["facts"] or None,
            **self.carry["info"],
        )

    # Messages

    def _item(self, number: int, record: dict[str, Any], item: dict[str, Any]) -> Iterator[Record]:
        kind, role = item.get("type"), item.get("role")
        if kind == "message" and role in ("user", "developer", "system"):
            yield from self._answer(close=True)
            self.prompts.add_item(number, record, item)
            return
        if kind == "ghost_snapshot":
            return
        yield from self._prompted(close=True)
        if kind == "message" and role == "assistant":
            yield from self._says(number, record, words_in(item))
        elif kind == "reasoning":
            thoughts = words_in({"content": item.get("summary")})
            if self.carry["thinks"] == "items" and thoughts:
                yield from self._thinks(number, record, thoughts)
        elif is_call(item):
            yield from self._calls(number, record, item)
        elif str(kind).endswith("_output"):
            yield from self._answer(close=True)
            yield self._output(number, record, item)
        elif kind == "agent_message":
            yield from self._close()
            facts = {name: item.get(name) for name in ("author", "recipient")}
            yield self._message(
                number, record, "user", body(blocks_of(item.get("content"))), injected=True, metadata=facts
            )
        else:
            yield self._message(number, record, "meta", item, injected=True)

    def _event(self, number: int, record: dict[str, Any], event: dict[str, Any]) -> Iterator[Record]:
        kind = words_of(event.get("type"))
        if kind == "user_message":
            yield from self._answer(close=True)
            self.prompts.add_event(number, record, event)
        elif kind == "token_count":
            self._tokens(event)
        elif kind == "agent_message" and self.carry["speaks"] == "events":
            yield from self._prompted(close=True)
            yield from self._says(number, record, words_of(event.get("message")) or "")
        elif kind == "agent_reasoning" and self.carry["thinks"] == "events":
            yield from self._prompted(close=True)
            yield from self._thinks(number, record, words_of(event.get("text")) or "")
        elif kind == "thread_name_updated":
            if event.get("thread_id", self._id()) == self._id():
                self.carry["title"] = words_of(event.get("thread_name"))
        elif kind == "thread_rolled_back":
            yield from self._roll_back(count_of(event.get("num_turns")))
        elif kind not in _NOISE:
            yield self._message(number, record, "meta", event, injected=True)

    def _close(self) -> Iterator[Record]:
        yield from self._answer(close=True)
        yield from self._prompted(close=True)

    def _prompted(self, close: bool = False) -> Iterator[Record]:
        for message, begins_turn in self.prompts.messages(self._id(), close=close):
            if begins_turn and not turns.is_in_last(self.carry["turns"], message.native_id):
                turns.begin(self.carry["turns"])
            turns.note(self.carry["turns"], message.native_id)
            yield message

    def _says(self, number: int, record: dict[str, Any], words: str) -> Iterator[Record]:
        answer = self.carry["answer"]
        if answer is None or answer["texts"] or answer["calls"]:
            yield from self._new_answer(number, record)
        self._extend("texts", words, record)

    def _thinks(self, number: int, record: dict[str, Any], words: str) -> Iterator[Record]:
        answer = self.carry["answer"]
        if answer is None or answer["texts"] or answer["calls"]:
            yield from self._new_answer(number, record)
        self._extend("thoughts", words, record)

    def _calls(self, number: int, record: dict[str, Any], item: dict[str, Any]) -> Iterator[Record]:
        if self.carry["answer"] is None:
            yield from self._new_answer(number, record)
        call = call_of(item)
        self._extend("calls", call, record)
        if call["id"] is not None:
            self.carry["names"][call["id"]] = call["function"]["name"]
            for old in list(self.carry["names"])[:-_CALLS]:
                del self.carry["names"][old]

    def _new_answer(self, number: int, record: dict[str, Any]) -> Iterator[Record]:
        yield from self._answer(close=True)
        self.carry["answer"] = {
            "number": number, "timestamp": when(record.get("timestamp")), "texts": [], "thoughts": [], "calls": [],
            "given": False, "usage": {}, "copied_from": self._copied_from(),
        }  # fmt: skip

    def _extend(self, part: str, value: Any, record: dict[str, Any]) -> None:
        answer = self.carry["answer"]
        if not (answer["texts"] or answer["thoughts"] or answer["calls"]):
            # Of an answer that its event began and its item tells, the item's time counts.
            answer["timestamp"] = when(record.get("timestamp"))
        answer[part].append(value)
        answer["given"] = False

    def _answer(self, close: bool = False) -> Iterator[Record]:
        """Hand out the answer so far; at the end of the file it stays open, and grows with the file."""
        answer = self.carry["answer"]
        if close:
            self.carry["answer"] = None
        if answer is None or answer["given"]:
            return
        answer["given"] = True
        message = Message(
            "assistant",
            said(answer["texts"]) or None,
            answer["timestamp"],
            f"line-{answer['number']}",
            self._id(),
            tool_calls=list(answer["calls"]) or None,
            reasoning=said(answer["thoughts"]) or None,
            model=self.carry["info"].get("model"),
            provider=self.carry["provider"],
            input_tokens=answer["usage"].get("input_tokens"),
            output_tokens=answer["usage"].get("output_tokens"),
            metadata=_copied(answer["copied_from"]),
        )
        turns.note(self.carry["turns"], message.native_id)
        yield message

    def _output(self, number: int, record: dict[str, Any], item: dict[str, Any]) -> Message:
        content, facts = output_of(item)
        call_id = words_of(item.get("call_id"))
        return self._message(
            number, record, "tool", content, tool_call_id=call_id, tool_name=self.carry["names"].get(call_id or ""),
            metadata=facts or None,
        )  # fmt: skip

    def _message(self, number: int, record: dict[str, Any], role: str, content: Any, **fields: Any) -> Message:
        copied = _copied(self._copied_from()) or {}
        facts = {
            name: value for name, value in (fields.pop("metadata", None) or {}).items() if value is not None
        } | copied
        moment = when(record.get("timestamp"))
        message = Message(role, content, moment, f"line-{number}", self._id(), metadata=facts or None, **fields)
        turns.note(self.carry["turns"], message.native_id)
        return message

    def _copied_from(self) -> str | None:
        return self.carry["info"].get("parent_native_id") if self.carry["copying"] else None

    def _roll_back(self, count: int) -> Iterator[Record]:
        yield from self._close()
        if gone := turns.take_back(self.carry["turns"], count):
            yield Retracted(gone, self._id())

    # Usage

    def _tokens(self, event: dict[str, Any]) -> None:
        info = event.get("info")
        if not isinstance(info, dict):
            return
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        if isinstance(total, dict):
            before, self.carry["total"] = self.carry["total"], total
            if total == before:
                return
            if not isinstance(last, dict):
                last = {name: count_of(value) - count_of(before.get(name)) for name, value in total.items()}
        elif not isinstance(last, dict):
            last = {"input_tokens": info.get("prompt"), "output_tokens": info.get("completion")}
        if self.carry["copying"]:
            return
        used = _used(last)
        Totals.add(self.carry["totals"], used)
        if self.carry["answer"] is not None:
            self.carry["answer"]["usage"] = used
            self.carry["answer"]["given"] = False


def _beginning() -> dict[str, Any]:
    return {
        "id": None, "metas": 0, "born": None, "begun": False, "copying": False, "relation": None, "title": None,
        "provider": None, "info": {}, "facts": {}, "total": {}, "totals": {}, "answer": None, "names": {}, "turns": [],
    }  # fmt: skip


def _used(usage: Mapping[str, Any]) -> dict[str, Any]:
    cached, written = count_of(usage.get("cached_input_tokens")), count_of(usage.get("cache_write_input_tokens"))
    return {
        "input_tokens": max(count_of(usage.get("input_tokens")) - cached - written, 0),
        "output_tokens": count_of(usage.get("output_tokens")),
        "cache_read_tokens": cached,
        "cache_write_tokens": written,
        "reasoning_tokens": count_of(usage.get("reasoning_output_tokens")),
    }


def _copied(origin: str | None) -> dict[str, Any] | None:
    return None if origin is None else {"copied_from": origin}


def _is_timed(name: Any) -> bool:
    """Whether an id tells when it was made (UUID version 7)."""
    return isinstance(name, str) and _UUID.fullmatch(name) is not None and name[14] == "7"


def _born(name: str) -> int:
    return int(name.replace("-", "")[:12], 16)
