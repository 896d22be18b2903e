"""aider: `.aider.chat.history.md`, to which every session of a project is appended.

A session begins with a line that tells when. Lines of a prompt begin with `#### ` and end in two blanks, those of the
program with `> `; the rest is the model's. All three may stand inside a block of code that the model wrote, and blocks
are often left open, so a line counts as a prompt for its two blanks, or because it is not in such a block.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ImportProblem
from .base import Message, Record, Session
from .packed import open_plain
from .parts import Totals
from .source import MAX_DOCUMENT, Source
from .texts import when

NAME = "aider"
_BEGUN = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_MODEL = re.compile(r"(?:Main model|Model|Models): (\S+)")
_TOKENS = re.compile(r"Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) cache hit)?"
                     r", ([\d.,]+[kM]?) received")  # fmt: skip
_COST = re.compile(r"Cost: \$([\d.]+) message")
_UNITS = {"k": 1_000, "M": 1_000_000}


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    """Such files lie in every project; where they are all kept in one, a variable names it."""
    named = env.get("AIDER_CHAT_HISTORY_FILE")
    return [Path(named).expanduser()] if named else []


def find(root: Path) -> Iterator[Path]:
    yield from [root] if root.is_file() else sorted(root.rglob("*.aider.chat.history.md"))


def detect(path: Path, head: bytes) -> bool:
    return path.suffix == ".md" and b"# aider chat started at " in head


def read(source: Source) -> Iterator[Record]:
    with open_plain(source.file) as file:
        data = file.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        raise ImportProblem(f"{source.path} has more than {MAX_DOCUMENT:,} bytes")
    for begun, lines in _sessions(_lines(data)):
        yield from _Chat(source.path, begun, lines).records()


def _lines(data: bytes) -> list[str]:
    """The lines, however they end. A last one that may be half a prompt waits: by the first a session is known."""
    lines = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1].startswith("#") else lines


def _sessions(lines: list[str]) -> Iterator[tuple[str | None, list[str]]]:
    begun: str | None = None
    mine: list[str] = []
    for line in lines:
        if found := _BEGUN.fullmatch(line):
            yield begun, mine
            begun, mine = found.group(1), []
        else:
            mine.append(line)
    yield begun, mine


class _Chat:
    """One session: lines of one kind that follow each other are a message."""

    def __init__(self, path: Path, begun: str | None, lines: list[str]) -> None:
        self.path = path
        self.begun = begun
        self.lines = lines
        self.totals: dict[str, Any] = {}
        self.model: str | None = None

    def records(self) -> Iterator[Record]:
        said = [(role, text) for role, lines in self._runs() if (text := "\n".join(lines).strip("\n"))]
        first = next((text for role, text in said if role == "user"), None)
        if first is None:
            return
        for role, text in said:
            if role == "system":
                self._learn(text)
        # A whole first line: it stays the same while the file grows.
        native_id = _native_id(self.begun, first.partition("\n")[0])
        yield Session(
            native_id,
            source="cli",
            started_at=when(self.begun),
            model=self.model,
            # The file lies in the root of the project; a copy of it elsewhere tells nothing.
            cwd=str(self.path.parent) if (self.path.parent / ".git").exists() else None,
        )
        for number, (role, text) in enumerate(said):
            yield Message(role, text, when(self.begun), str(number), native_id, injected=role == "system")
        if self.totals:
            yield Totals.usage(self.totals, native_id, NAME)

    def _runs(self) -> Iterator[tuple[str, list[str]]]:
        role, in_code = "assistant", False
        mine: list[str] = []
        for line in self.lines:
            if line.startswith("```"):
                in_code = not in_code
            found = _kind(line, in_code)
            if not line.strip() and role == "user":
                # A blank line ends a prompt; the answer may begin with another mark.
                found = "assistant"
            if found != "assistant":
                in_code = False
            if found != role:
                yield role, mine
                role, mine = found, []
            mine.append(_plain(line, found))
        yield role, mine

    def _learn(self, text: str) -> None:
        for line in text.split("\n"):
            if self.model is None and (found := _MODEL.match(line)):
                self.model = found.group(1)
            if found := _TOKENS.match(line):
                sent, written, hit, received = (_amount(each) for each in found.groups())
                cost = _COST.search(line)
                used = {"input_tokens": max(sent - written - hit, 0), "output_tokens": received}
                used |= {"cache_write_tokens": written, "cache_read_tokens": hit}
                Totals.add(self.totals, {**used, "cost": float(cost.group(1)) if cost else None})


def _native_id(begun: str | None, first: str) -> str:
    moment = re.sub(r"\D", "", begun or "") or "unknown"
    digest = hashlib.sha256(first.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"aider-{moment}-{digest}"


def _kind(line: str, in_code: bool) -> str:
    if line.startswith("####") and (line.startswith("#### ") or line == "####"):
        return "user" if line.endswith("  ") or not in_code else "assistant"
    if line.startswith("> ") and (line.endswith("  ") or not in_code):
        return "system"
    return "assistant"


def _plain(line: str, kind: str) -> str:
    if kind == "user":
        return line.removeprefix("####").strip()
    return line.removeprefix("> ").rstrip() if kind == "system" else line


def _amount(text: str | None) -> int:
    if not text:
        return 0
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1] in _UNITS else (text, 1)
    try:
        return round(float(number.replace(",", "")) * unit)
    except ValueError:
        return 0
