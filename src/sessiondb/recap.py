"""The end of a conversation in a few lines, to find the way back into it; pure.

`recap` chooses and shortens; who shows it (a command, a chat, a full-screen view) decides about colours and widths, and
about characters that a terminal would obey: texts here are as stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .models import MessageRow
from .values import dataclass, replace

EXCHANGES = 10
USER_LENGTH = 300
ASSISTANT_LENGTH = 200
ASSISTANT_LINES = 3
TOOL_NAMES = 4
CUT = "..."

_TAGS = "think|thinking|thought|reasoning|reasoning_scratchpad"
# A thought that was never closed goes on to the end.
_REASONING = rf"(?si)<({_TAGS})\b[^<>]*>.*?(?:</\1\s*>|\Z)"
_IMAGES = ("image", "image_url", "input_image", "image_ref")
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Entry:
    """What one side said. `calls` names the tools called meanwhile, one name per call."""

    role: str
    text: str
    calls: tuple[str, ...] = ()
    # How many messages it stands for.
    messages: int = 1

    @property
    def tools(self) -> str:
        """The calls as a count with at most four names: "[3 tool calls: terminal, web_search]"."""
        return collapsed(self.calls)


@dataclass(frozen=True, slots=True)
class Recap:
    entries: tuple[Entry, ...]
    # The messages of both sides that are not shown.
    earlier: int = 0

    @property
    def notice(self) -> str:
        return f"... {self.earlier} earlier message{'s' * (self.earlier != 1)} ..." if self.earlier else ""


def recap(messages: Iterable[MessageRow], exchanges: int = EXCHANGES) -> Recap:
    """The last exchanges, each a question and its answer; nothing else is shown.

    Hidden: system messages, tool results, reasoning, injected and rewound messages. Messages that only call tools are
    told with the answer they belong to. When an answer alone fills the room, its question is shown before its end.
    """
    said = _joined(entry for entry in map(_entry, messages) if entry is not None)
    shown = _last(said, exchanges)
    earlier = sum(entry.messages for entry in said) - sum(entry.messages for entry in shown)
    return Recap(tuple(map(_shortened, shown)), earlier)


def one_line(title_or_id: str, message_count: int, last_active: str) -> str:
    """All that `display.resume_display: minimal` shows."""
    return f"{title_or_id} · {message_count} message{'s' * (message_count != 1)} · {last_active}"


def collapsed(calls: Sequence[str]) -> str:
    if not calls:
        return ""
    names = list(dict.fromkeys(calls))
    shown = ", ".join(names[:TOOL_NAMES]) + (", " + CUT if len(names) > TOOL_NAMES else "")
    return f"[{len(calls)} tool call{'s' * (len(calls) != 1)}: {shown}]"


def _entry(message: MessageRow) -> Entry | None:
    role = message["role"]
    if role not in ("user", "assistant") or message.get("injected") or message.get("active", 1) == 0:
        return None
    text = re.sub(_REASONING, "", spoken(message["content"])).strip()
    calls = tuple(called(message.get("tool_calls"))) if role == "assistant" else ()
    return Entry(role, text, calls) if text or calls else None


def _joined(entries: Iterable[Entry]) -> list[Entry]:
    """Steps that say nothing belong to what was said before them, or to the first words after."""
    out: list[Entry] = []
    for entry in entries:
        last = out[-1] if out else None
        if last is not None and last.role == entry.role == "assistant" and not (last.text and entry.text):
            text = last.text or entry.text
            out[-1] = Entry(entry.role, text, last.calls + entry.calls, last.messages + entry.messages)
        else:
            out.append(entry)
    return out


def _last(said: list[Entry], exchanges: int) -> list[Entry]:
    questions = [place for place, entry in enumerate(said) if entry.role == "user"]
    start = max(len(said) - 2 * exchanges, questions[-exchanges] if len(questions) > exchanges else 0)
    shown = said[start:]
    if questions and questions[-1] < start:
        return [said[questions[-1]], *shown[1:]]
    return shown


def _shortened(entry: Entry) -> Entry:
    if entry.role == "user":
        return replace(entry, text=shortened(" ".join(entry.text.split()), USER_LENGTH))
    lines = [line.rstrip() for line in entry.text.splitlines() if line.strip()]
    more = len(lines) > ASSISTANT_LINES
    return replace(entry, text=shortened("\n".join(lines[:ASSISTANT_LINES]), ASSISTANT_LENGTH, more=more))


def shortened(text: str, length: int, *, more: bool = False) -> str:
    """At most so many characters, then "..."; never half of a character that is written with several."""
    if len(text) <= length:
        return text + CUT if more else text
    end = length
    while end > 0 and _belongs_to_the_one_before(text, end):
        end -= 1
    return text[: end or length].rstrip() + CUT


def _belongs_to_the_one_before(text: str, place: int) -> bool:
    letter = text[place]
    if letter.isascii() and text[place - 1] != _JOINER:
        return False
    # Its tables are large, and most texts are cut between plain letters.
    from unicodedata import category

    return (
        text[place - 1] == _JOINER
        or letter == _JOINER
        or category(letter).startswith("M")
        or "\U0001f3fb" <= letter <= "\U0001f3ff"
    )


def spoken(content: Any) -> str:
    """The words of a message, with "[image]" in the place of pictures."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        if str(content.get("type")) in _IMAGES:
            return "[image]"
        return spoken(content.get("text") or content.get("content"))
    if isinstance(content, list):
        return "\n".join(filter(None, map(spoken, content)))
    return ""


def called(tool_calls: Any) -> list[str]:
    """The names of the tools that were called, in order."""
    calls = tool_calls if isinstance(tool_calls, list) else [tool_calls] if tool_calls else []
    return [_name(call) for call in calls]


def _name(call: Any) -> str:
    if not isinstance(call, dict):
        return "tool"
    function = call.get("function")
    named = (function.get("name") if isinstance(function, dict) else None) or call.get("name")
    return " ".join(str(named or "tool").split())
