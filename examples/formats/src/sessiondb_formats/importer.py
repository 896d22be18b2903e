"""Chat logs: a line with the title, then `<time> <name> text` lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from sessiondb.importers.base import Message, Record, Session, Skipped
from sessiondb.importers.source import Source

NAME = "chat-log"
SUFFIXES = (".chatlog",)
RESUME = "chat --continue {id}"
_TITLE = b"# chat: "
_SAID = re.compile(r"(\S+) <([^>]+)> (.*)")
_BOTS = frozenset({"bot", "assistant"})


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    """Where this agent keeps its history by default."""
    return [Path(env["CHAT_LOGS"])] if env.get("CHAT_LOGS") else [home / ".chat-logs"]


def find(root: Path) -> Iterator[Path]:
    """The sources below such a directory."""
    yield from sorted(root.rglob("*.chatlog"))


def detect(path: Path, head: bytes) -> bool:
    """Whether a lone file is one of its sources."""
    return path.suffix == ".chatlog" or head.startswith(_TITLE)


def read(source: Source) -> Iterator[Record]:
    """What is in it, from where the last import ended."""
    native_id = source.carry.setdefault("session", source.path.stem)
    yield Session(native_id, source="irc")
    for line in source.lines():
        if isinstance(line, Skipped):
            yield line
        elif line.text.startswith(_TITLE):
            title = line.text.removeprefix(_TITLE).decode("utf-8", "replace").strip()
            yield Session(native_id, title=title, title_source="user")
        else:
            yield _message(source.path, line.number, line.text.decode("utf-8", "replace"))


def _message(path: Path, number: int, line: str) -> Message | Skipped:
    found = _SAID.fullmatch(line)
    if found is None:
        return Skipped(path, number, "no line of a chat")
    moment, name, text = found.groups()
    try:
        timestamp = datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return Skipped(path, number, f"no time: {moment}")
    role = "assistant" if name in _BOTS else "user"
    return Message(role, text, timestamp, native_id=str(number), metadata={"name": name})
