"""The messages in a record of Claude Code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import turns
from .base import Message, Record, Retracted
from .parts import Totals, blocks_of, body, object_of, price_of, said, text_of, tool_call
from .texts import count_of, is_injected, when, words_of

_RECENT = 200
_OWN_WRAPPERS = ("<ide_", "<bash-input>", "<user-prompt-submit-hook>", "<teammate-message", "<local-command-")
_COMMAND = re.compile(r"\s*<command-(name|message|args)>(.*?)</command-\1>\s*", re.DOTALL)
_CALLS = ("tool_use", "server_tool_use")
_QUIET_SYSTEM = frozenset({"turn_duration", "stop_hook_summary", "session_start", "api_error"})
_QUIET_ATTACHMENTS = frozenset(
    {
        "hook_success", "deferred_tools_delta", "agent_listing_delta", "mcp_instructions_delta", "command_permissions",
        "task_reminder", "todo_reminder", "auto_mode", "date_change", "ultra_effort_enter", "ultra_effort_exit",
        "plan_mode_exit", "budget_usd", "compact_file_reference", "dynamic_skill", "task_status",
    }
)  # fmt: skip


def begins_conversation(record: dict[str, Any]) -> bool:
    return record.get("type") in ("user", "assistant") or _queued(record) is not None


def messages(owner: str, state: dict[str, Any], record: dict[str, Any] | None) -> Iterator[Record]:
    """What a record says; None ends the file, and hands out what may still grow."""
    for found in _messages(owner, state, record):
        if isinstance(found, Message):
            turns.note(state["turns"], found.native_id)
        yield found


def _messages(owner: str, state: dict[str, Any], record: dict[str, Any] | None) -> Iterator[Record]:
    kind = None if record is None else record.get("type")
    if record is not None and kind == "assistant" and isinstance(record.get("message"), dict):
        yield from _assistant(owner, state, record)
        return
    yield from _open_answer(owner, state)
    if record is None:
        return
    if kind == "user" and isinstance(record.get("message"), dict):
        yield from _user(owner, state, record)
    elif kind == "attachment" and isinstance(record.get("attachment"), dict):
        yield from _attachment(owner, record)
    elif kind == "system":
        yield from _system(owner, record)
    else:
        yield _raw(owner, record)


# Answers


def _assistant(owner: str, state: dict[str, Any], record: dict[str, Any]) -> Iterator[Record]:
    message = record["message"]
    answer = words_of(message.get("id")) or words_of(record.get("uuid"))
    if state["open"] is None or state["open"]["id"] != answer or answer is None:
        yield from _close_answer(owner, state)
        state["open"] = _new_answer(state, answer, record)
    _extend(state, state["open"], record)


def _new_answer(state: dict[str, Any], answer: str | None, record: dict[str, Any]) -> dict[str, Any]:
    # A line of an answer that was taken for complete would replace it.
    late = answer in state["finished"]
    return {
        "id": answer, "native_id": _numbered(answer, record.get("uuid")) if late else answer, "given": False,
        "timestamp": when(record.get("timestamp")), "texts": [], "thoughts": [], "calls": [], "others": [],
        "usage": {}, "counted": {}, "model": None, "finish_reason": None, "copied_from": _copied_from(record),
    }  # fmt: skip


def _extend(state: dict[str, Any], answer: dict[str, Any], record: dict[str, Any]) -> None:
    message = record["message"]
    for block in blocks_of(message.get("content")):
        _add_block(state, answer, block)
    answer["given"] = False
    answer["model"] = words_of(message.get("model")) or answer["model"]
    answer["finish_reason"] = words_of(message.get("stop_reason")) or answer["finish_reason"]
    usage = _usage(message.get("usage"), record.get("costUSD"))
    # Every line repeats the usage, the early ones with a part of the output.
    if usage and usage["output_tokens"] >= answer["usage"].get("output_tokens", 0):
        answer["usage"] = usage


def _add_block(state: dict[str, Any], answer: dict[str, Any], block: dict[str, Any]) -> None:
    kind = block.get("type")
    if (text := text_of(block)) is not None:
        answer["texts"].append(text)
    elif kind == "thinking":
        answer["thoughts"].append(words_of(block.get("thinking")) or "")
    elif kind in _CALLS:
        call = tool_call(block.get("id"), block.get("name"), block.get("input"))
        answer["calls"].append(call)
        _remember(state["calls"], call["id"], call["function"]["name"])
    elif kind != "redacted_thinking":
        answer["others"].append(block)


def _remember(calls: dict[str, str], call_id: str | None, name: str) -> None:
    if call_id is not None:
        calls[call_id] = name
        if len(calls) > _RECENT:
            del calls[next(iter(calls))]


def _usage(usage: Any, cost: Any) -> dict[str, Any]:
    if not isinstance(usage, dict):
        return {}
    details = object_of(usage.get("output_tokens_details"))
    return {
        "input_tokens": count_of(usage.get("input_tokens")),
        "output_tokens": count_of(usage.get("output_tokens")),
        "cache_read_tokens": count_of(usage.get("cache_read_input_tokens")),
        "cache_write_tokens": count_of(usage.get("cache_creation_input_tokens")),
        "reasoning_tokens": count_of(details.get("thinking_tokens")),
        "cost": price_of(cost),
    }


def _open_answer(owner: str, state: dict[str, Any]) -> Iterator[Record]:
    """Hand out the answer so far. It stays open: further lines of it may follow the first results of its calls."""
    answer = state["open"]
    if answer is None or answer["given"]:
        return
    answer["given"] = True
    if answer["copied_from"] is None and answer["usage"]:
        Totals.add(state["totals"], answer["usage"], less=answer["counted"])
        answer["counted"] = answer["usage"]
    by_model = answer["model"] != "<synthetic>"
    if by_model and answer["model"]:
        state["info"]["model"] = answer["model"]
    counted = answer["counted"]
    others = {"blocks": answer["others"]} if answer["others"] else {}
    yield Message(
        "assistant",
        said(answer["texts"]) or None,
        answer["timestamp"],
        answer["native_id"],
        owner,
        tool_calls=list(answer["calls"]) or None,
        reasoning=said(answer["thoughts"]) or None,
        model=answer["model"] if by_model else None,
        provider="anthropic" if by_model else None,
        input_tokens=counted.get("input_tokens"),
        output_tokens=counted.get("output_tokens"),
        finish_reason=answer["finish_reason"],
        injected=not by_model,
        metadata=(others | _origin(answer["copied_from"])) or None,
    )


def _close_answer(owner: str, state: dict[str, Any]) -> Iterator[Record]:
    yield from _open_answer(owner, state)
    if state["open"] is not None:
        state["finished"] = [*state["finished"], state["open"]["id"]][-_RECENT:]
        state["open"] = None


# What comes in: prompts, results of tools, notes of the program


def _user(owner: str, state: dict[str, Any], record: dict[str, Any]) -> Iterator[Record]:
    blocks = blocks_of(record["message"].get("content"))
    uuid = words_of(record.get("uuid"))
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for number, block in enumerate(results):
        yield _result(owner, state, record, block, uuid if len(blocks) == 1 else _numbered(uuid, number))
    others = [block for block in blocks if block.get("type") != "tool_result"]
    if not others:
        return
    # A prompt ends the answer before it.
    yield from _close_answer(owner, state)
    if _is_note(record):
        yield _prompt(owner, record, others, uuid, injected=True)
        return
    others = [_as_typed(block) for block in others]
    notes = [block for block in others if _is_wrapped(block)]
    own = [block for block in others if not _is_wrapped(block)]
    if own:
        yield from _begin_turn(owner, state, record)
    if notes:
        yield _prompt(owner, record, notes, _numbered(uuid, "note") if own else uuid, injected=True)
    if own:
        yield _prompt(owner, record, own, uuid, injected=False)


def _begin_turn(owner: str, state: dict[str, Any], record: dict[str, Any]) -> Iterator[Record]:
    """A second prompt after the same record is the first one edited: what followed that one was left."""
    after = words_of(record.get("parentUuid"))
    after = None if after == record.get("uuid") else after
    if gone := turns.take_back_to(state["turns"], after):
        yield Retracted(gone, owner)
    turns.begin(state["turns"], after)


def _as_typed(block: dict[str, Any]) -> dict[str, Any]:
    """A command with what was typed after it, which is a prompt; one without is none."""
    text = text_of(block) or ""
    told = dict(_COMMAND.findall(text)) if text.lstrip().startswith("<command-") else {}
    if not told.get("args", "").strip() or _COMMAND.sub("", text):
        return block
    return {**block, "text": f"{told.get('name', '').strip()} {told['args'].strip()}".strip()}


def _is_note(record: dict[str, Any]) -> bool:
    flags = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "forkedFrom", "isSidechain")
    return any(record.get(flag) for flag in flags) or _by_program(record.get("origin"))


def _by_program(origin: Any) -> bool:
    return isinstance(origin, dict) and ("senderTaskId" in origin or origin.get("kind") == "task-notification")


def _is_wrapped(block: dict[str, Any]) -> bool:
    text = text_of(block)
    if text is None:
        return block.get("type") not in ("image", "document")
    return not text.strip() or is_injected(text) or text.lstrip().startswith(_OWN_WRAPPERS)


def _prompt(
    owner: str, record: dict[str, Any], blocks: list[dict[str, Any]], name: str | None, *, injected: bool
) -> Message:
    facts = _origin(_copied_from(record))
    if record.get("isCompactSummary"):
        facts["kind"] = "compaction summary"
    content = body(blocks)
    return Message(
        "user", content, when(record.get("timestamp")), name, owner, injected=injected, metadata=facts or None
    )


def _result(
    owner: str, state: dict[str, Any], record: dict[str, Any], block: dict[str, Any], name: str | None
) -> Message:
    call_id = words_of(block.get("tool_use_id")) or words_of(record.get("sourceToolUseID"))
    agent = words_of(object_of(record.get("toolUseResult")).get("agentId"))
    facts = _origin(_copied_from(record))
    if block.get("is_error"):
        facts["is_error"] = True
    if agent is not None:
        facts["agent_id"] = agent
    return Message(
        "tool",
        body(blocks_of(block.get("content"))),
        when(record.get("timestamp")),
        name,
        owner,
        tool_call_id=call_id,
        tool_name=state["calls"].get(call_id or ""),
        metadata=facts or None,
    )


def _queued(record: dict[str, Any]) -> dict[str, Any] | None:
    attachment = record.get("attachment")
    return attachment if isinstance(attachment, dict) and attachment.get("type") == "queued_command" else None


def _attachment(owner: str, record: dict[str, Any]) -> Iterator[Record]:
    attachment, moment = record["attachment"], when(record.get("timestamp"))
    uuid, kind = words_of(record.get("uuid")), words_of(attachment.get("type"))
    if kind == "queued_command":
        # Typed while the agent was busy; there is no other record of it.
        note = attachment.get("isMeta") or attachment.get("commandMode", "prompt") != "prompt"
        by_program = bool(note or _by_program(attachment.get("origin")) or record.get("isSidechain"))
        yield Message("user", body(blocks_of(attachment.get("prompt"))), moment, uuid, owner, injected=by_program)
    elif (text := _attached_text(attachment)) is not None:
        facts = {"attachment": kind, "file": words_of(attachment.get("filename") or attachment.get("path"))}
        yield Message(
            "system", text, moment, uuid, owner, injected=True, metadata={k: v for k, v in facts.items() if v}
        )
    elif kind not in _QUIET_ATTACHMENTS:
        yield _raw(owner, record)


def _attached_text(attachment: dict[str, Any]) -> str | None:
    if words_of(attachment.get("type")) in _QUIET_ATTACHMENTS:
        return None
    for name in ("content", "text", "snippet", "banner"):
        value = attachment.get(name)
        while isinstance(value, dict):
            value = value.get("content", value.get("file"))
        if text := words_of(value):
            return text
    return None


def _system(owner: str, record: dict[str, Any]) -> Iterator[Record]:
    kind, text = words_of(record.get("subtype")), words_of(record.get("content"))
    if kind in _QUIET_SYSTEM:
        return
    if text is None:
        yield _raw(owner, record)
        return
    facts = {"subtype": kind, "compaction": record.get("compactMetadata")}
    yield Message(
        "system",
        text,
        when(record.get("timestamp")),
        words_of(record.get("uuid")),
        owner,
        injected=True,
        metadata={name: value for name, value in facts.items() if value},
    )


def _raw(owner: str, record: dict[str, Any]) -> Message:
    return Message("meta", record, when(record.get("timestamp")), words_of(record.get("uuid")), owner, injected=True)


def _numbered(name: str | None, number: int | str | None) -> str | None:
    return None if name is None or number is None else f"{name}#{number}"


def _copied_from(record: dict[str, Any]) -> str | None:
    return words_of(object_of(record.get("forkedFrom")).get("sessionId"))


def _origin(copied_from: str | None) -> dict[str, Any]:
    return {} if copied_from is None else {"copied_from": copied_from}
