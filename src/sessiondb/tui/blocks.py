"""A message as blocks: prose, code, thoughts, calls of tools and their results. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..cli.conversation import calls
from ..cli.text import line, safe
from ..models import MessageRow
from ..recap import called, collapsed, spoken

Kind = Literal["prose", "code", "thought", "calls", "result"]
# More of one message is not drawn: `sessiondb show` prints all of it.
LONGEST = 40_000
_TOOL_ROLES = ("tool", "function")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)$")


@dataclass(frozen=True)
class Block:
    kind: Kind
    # Nothing in it commands a terminal.
    text: str
    # The language of code, the summary of what is closed.
    label: str = ""


def blocks(message: MessageRow) -> list[Block]:
    """In the order of reading; all text is safe to show."""
    made: list[Block] = []
    if message.get("reasoning"):
        made.append(Block("thought", safe(str(message["reasoning"]).strip())[:LONGEST], "thought"))
    text = safe(spoken(message["content"]).strip("\n"))
    shown = text[:LONGEST]
    if message["role"] in _TOOL_ROLES:
        made.append(Block("result", shown, line(message.get("tool_name") or "result")))
    else:
        made += split(shown)
    if len(text) > LONGEST:
        made.append(
            Block("prose", f"… {len(text) - LONGEST:,} more characters: `sessiondb show --around {message['id']}`")
        )
    if message.get("tool_calls"):
        told = collapsed(called(message["tool_calls"])).strip("[]")
        made.append(Block("calls", safe("\n".join(calls(message["tool_calls"]))), line(told)))
    return made


def split(text: str) -> Iterator[Block]:
    """Prose and fenced code; a fence that is never closed reaches to the end, as in Markdown."""
    prose: list[str] = []
    lines = iter(text.split("\n"))
    for each in lines:
        opened = _FENCE.fullmatch(each)
        if opened is None:
            prose.append(each)
            continue
        yield from _prose(prose)
        prose = []
        yield Block("code", "\n".join(_fenced(lines, opened[1])), opened[2].strip().split(" ")[0])
    yield from _prose(prose)


def _fenced(lines: Iterator[str], fence: str) -> Iterator[str]:
    for each in lines:
        bare = each.strip()
        if bare and set(bare) == {fence[0]} and len(bare) >= len(fence):
            return
        yield each


def _prose(lines: list[str]) -> Iterator[Block]:
    text = "\n".join(lines)
    if text.strip():
        yield Block("prose", text.strip("\n"))


def code_of(message: MessageRow) -> list[str]:
    """The code blocks as they are stored, to be copied."""
    return [block.text for block in split(spoken(message["content"])) if block.kind == "code"]
