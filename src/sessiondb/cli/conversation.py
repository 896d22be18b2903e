"""Messages as a person reads them: who, when, what; tools and thoughts when asked for."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from ..models import MessageRow
from ..recap import called, collapsed, spoken
from . import ink, output, terminal
from .text import cut, line, safe, wrapped

PERSON, AGENT, TOOL, OTHER = "●", "◆", "⚙", "○"
_INDENT = "  "
_WIDEST = 100
_TOOL_ROLES = ("tool", "function")
_LONGEST_ARGUMENT = 200
# Thoughts are told from words by more than their style, which a file or a pipe has not.
_THINKING, _THOUGHT = "2;3", "┆ "


def mark(role: str) -> str:
    if role == "user":
        return ink.gold(PERSON)
    if role == "assistant":
        return ink.green(AGENT)
    return ink.dim(TOOL if role in _TOOL_ROLES else OTHER)


def show(messages: Iterable[MessageRow], *, tools: bool, reasoning: bool, focus: int | None = None) -> None:
    """Whole messages; `focus` is the id of the one that was looked for."""
    shown = [message for message in messages if tools or message["role"] not in _TOOL_ROLES]
    bodies = [(message, list(_body(message, tools=tools, reasoning=reasoning))) for message in shown]
    for number, (message, body) in enumerate(each for each in bodies if each[1]):
        if number:
            output.say()
        _show_message(message, body, here=message["id"] == focus)


def _show_message(message: MessageRow, body: Iterable[tuple[str, str]], *, here: bool) -> None:
    who = " ".join(filter(None, [message["role"], message["tool_name"]]))
    when = time.strftime("%H:%M", time.localtime(message["timestamp"]))
    output.say(
        mark(message["role"]),
        " ",
        ink.bold(who),
        ink.dim(f" · {when} · #{message['id']}"),
        ink.found(" ←") if here else "",
    )
    for style, text in body:
        say_indented(text, style, _THOUGHT if style == _THINKING else "")


def _body(message: MessageRow, *, tools: bool, reasoning: bool) -> Iterable[tuple[str, str]]:
    """Pieces of text with the codes of their style."""
    if reasoning and message["reasoning"]:
        yield _THINKING, str(message["reasoning"]).strip()
    text = spoken(message["content"]).strip("\n")
    if text.strip():
        yield "2" if message["role"] in _TOOL_ROLES else "", text
    if tools:
        yield from (("36", call) for call in calls(message["tool_calls"]))
    elif names := called(message["tool_calls"]):
        yield "2", collapsed(names)


def calls(tool_calls: Any) -> list[str]:
    """Each call with its arguments on one line."""
    given = tool_calls if isinstance(tool_calls, list) else [tool_calls] if tool_calls else []
    names = called(tool_calls)
    return [
        cut(line(f"{name}({_arguments(call)})"), _LONGEST_ARGUMENT) for name, call in zip(names, given, strict=True)
    ]


def _arguments(call: Any) -> str:
    if not isinstance(call, dict):
        return ""
    function = call.get("function")
    holder = function if isinstance(function, dict) else call
    found = next((holder[key] for key in ("arguments", "input", "args") if holder.get(key) is not None), "")
    if isinstance(found, str):
        return found
    from .answers import to_json

    return to_json(found, indent=None)


def say_indented(text: str, codes: str = "", lead: str = "") -> None:
    """A text below its speaker, each line after `lead`; broken into lines on a terminal only."""
    room = terminal.columns()
    shown = safe(text)
    lines = shown.split("\n") if room is None else wrapped(shown, max(20, min(room - len(_INDENT + lead) - 1, _WIDEST)))
    for each in (lead + each for each in lines):
        output.say(_INDENT if each else "", ink.Ink(each, codes) if codes else each)
