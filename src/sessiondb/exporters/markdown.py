"""Markdown to read: a heading per session, a heading per turn, tools in fenced blocks."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from typing import TextIO

from ..models import MessageRow, SessionRow
from .base import Conversation, calls, heading, words

NAME = "markdown"
SUFFIXES = (".md", ".markdown")
_NAMES = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System", "developer": "System"}
_FENCES = re.compile(r"`{3,}")


def write(conversations: Iterable[Conversation], out: TextIO) -> None:
    for number, conversation in enumerate(conversations):
        if number:
            out.write("\n---\n\n")
        for block in _blocks(conversation):
            out.write(block + "\n\n")


def _blocks(conversation: Conversation) -> Iterator[str]:
    session = conversation.session
    yield f"# {_inline(heading(session))}"
    yield "\n".join(f"- {name}: {_inline(str(value))}" for name, value in _facts(session, conversation.tags))
    if session["system_prompt"]:
        yield "## System prompt"
        yield _fenced(session["system_prompt"], "text")
    for message in conversation.messages():
        yield from _turn(message)


def _facts(session: SessionRow, tags: Iterable[str]) -> Iterator[tuple[str, object]]:
    yield "Session", session["id"]
    yield "Source", session["source"]
    yield "Started", moment(session["started_at"])
    if session["model"]:
        yield "Model", session["model"]
    if session["cwd"]:
        yield "Directory", session["cwd"]
    if told := ", ".join(tags):
        yield "Tags", told


def moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def _turn(message: MessageRow) -> Iterator[str]:
    name = _NAMES.get(message["role"], message["role"].capitalize())
    tool = f": {_inline(message['tool_name'])}" if message["tool_name"] else ""
    note = " (not typed by a person)" if message["injected"] else ""
    yield f"## {name}{tool}{note} · {moment(message['timestamp'])}"
    if message["reasoning"]:
        yield "\n".join(f"> {line}" for line in ("*Reasoning*", "", *message["reasoning"].split("\n")))
    text = words(message)
    if text:
        yield _fenced(text, "text") if message["role"] == "tool" or message["injected"] else text
    for call in calls(message):
        yield f"**Calls {_inline(call['tool_name'] or 'a tool')}**"
        yield _fenced(call["arguments"] or "", "json")


def _fenced(text: str, kind: str) -> str:
    """A block whose fence is longer than any in the text, so that the text cannot end it."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text}\n{fence}"


def _inline(text: str) -> str:
    """Text on one line that no mark can change."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))
