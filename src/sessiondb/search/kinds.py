"""What a message holds besides words: commands run, files, URLs, decisions, open items. No model is asked.

Commands, paths and URLs are told by their form, decisions and open items by cues in English, Indonesian and Chinese
(`cues.py`). Computed when asked for; nothing is stored, so better rules find more in old messages too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any, NamedTuple

from ..models import MessageRow
from . import cues
from .cues import PROGRAMS, SUBCOMMANDS
from .filters import KINDS
from .text import arguments_of, calls_of, readable

# Of a long text its beginning and its end: decisions stand there, and noise in between must not cost seconds.
LOOKED_AT = 40_000
LONGEST = 300
# What is longer is no sentence and no path; patterns with two ends take the square of it.
LOOKED_AT_ONCE = 1000

_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "terminal", "shellsession", "powershell"})
_SHELL_TOOLS = re.compile(r"(?i)(bash|shell|terminal|exec|run_?command|cmd|process)")
# `file_path`, `notebookPath`, `filename`: what stands there is a file, whatever it looks like.
_PATH_ARGUMENT = re.compile(r"(?:[a-z]+_)*(?:path|file|file_?name)|[a-z]+(?:Path|File|FileName)|cwd|directory")
_FENCE = re.compile(r"```[ \t]*([\w+-]{0,40})[^\n`]{0,200}\n(.*?)(?:```|\Z)", re.DOTALL)
_URL = re.compile(r"\b(?:https?|ftp|ssh|git|wss?|file)://[^\s<>\"'`|()\[\]{},。;）】」]+", re.IGNORECASE)
_PATH = re.compile(
    r"""
      (?<![\w/.:~\\-]) (?: ~ | \.{1,2} )? / (?: [\w.@+-]+ / )+ [\w.@+-]*   # /etc/x, ../a/b, ~/x/
    | (?<![\w/.:~\\-]) ~ / [\w.@+-]+                                        # ~/x
    | (?<![\w/.:~\\-]) [\w@.+-]+ (?: / [\w@.+-]+ )+ \. [A-Za-z]\w{0,7} \b   # src/x.py
    | \b [A-Za-z] : \\ [^\s"'`<>|:*?]+                                      # C:\x
    """,
    re.VERBOSE,
)
_INLINE = re.compile(r"`([^`\n]{2,300})`")
# In backticks a word with options is a command, whatever the program.
_FLAGGED = re.compile(r"[a-z][\w.-]+ (?:[^`]* )?--?[A-Za-z]")
# A full stop ends a sentence only before a blank: paths and numbers hold others.
_SENTENCE_END = re.compile(r"\n+|(?<=[。！？!?])|(?<=\.)\s+")
_MARK = re.compile(r"\bTODO\b(?! list| app| item)(?=[:(\s]|$)")


class Item(NamedTuple):
    kind: str
    text: str


def items(row: MessageRow, kinds: Collection[str] = KINDS) -> list[Item]:
    """What one message holds of these kinds, in order of kind, each thing once.

    Instructions that programs inject hold nothing.
    """
    if row.get("injected") or row["role"] in ("system", "developer", "meta", "session_meta"):
        return []
    text = _looked_at(readable(row))
    found = list(_run(row)) if "command" in kinds else []
    found += _named(row) if "path" in kinds or "url" in kinds else ()
    found += extract(text, kinds) if row["role"] != "tool" else _places(text)
    return sorted(
        (item for item in dict.fromkeys(found) if item.kind in kinds), key=lambda item: KINDS.index(item.kind)
    )


def holds(row: MessageRow, kinds: Collection[str]) -> bool:
    """Whether the message holds something of each of these kinds."""
    return not kinds or {item.kind for item in items(row, kinds)} >= set(kinds)


def extract(text: str, kinds: Collection[str] = KINDS) -> list[Item]:
    """What a text of a person or a model holds of these kinds, each thing once."""
    prose = _FENCE.sub("\n", text)
    found: list[Item] = []
    if "command" in kinds:
        found += _commands(text, prose)
    if "path" in kinds or "url" in kinds:
        found += _places(text)
    if "decision" in kinds or "todo" in kinds:
        found += _statements(prose)
    return [item for item in dict.fromkeys(found) if item.kind in kinds]


def _looked_at(text: str) -> str:
    return text if len(text) <= LOOKED_AT else text[: LOOKED_AT // 2] + "\n" + text[-LOOKED_AT // 2 :]


# --- places ---


def _places(text: str) -> Iterator[Item]:
    if "/" not in text and "\\" not in text:
        return
    for url in _URL.findall(text):
        yield Item("url", url.rstrip(".,:;!?*_"))
    for word in _URL.sub(" ", text).split():
        # Paths hold no blanks; a quick look spares the slow one.
        for path in _PATH.findall(word[:LOOKED_AT_ONCE]) if "/" in word or "\\" in word else ():
            cleaned = path.rstrip(".,:;!?")
            if len(cleaned) > 3:
                yield Item("path", cleaned)


# --- commands ---


def _commands(text: str, prose: str) -> Iterator[Item]:
    for language, code in _FENCE.findall(text):
        if language.lower() in _SHELLS or not language:
            yield from (Item("command", line) for line in map(_command_line, code.splitlines()) if line)
    for inline in _INLINE.findall(prose):
        if _is_command(inline) or _FLAGGED.match(inline):
            yield Item("command", inline.strip())
    for line in _INLINE.sub(" ", prose).splitlines():
        if command := _command_line(line):
            yield Item("command", command)


def _command_line(line: str) -> str | None:
    """The command that a line is, or ends with after a colon."""
    stripped = line.strip().rstrip("\\").strip()
    if stripped.startswith("$ ") and len(stripped) > 3:
        return stripped[2:].strip()[:LONGEST]
    if _is_command(stripped):
        return stripped[:LONGEST]
    lead, colon, rest = stripped.partition(": ")
    return rest[:LONGEST] if colon and len(lead) < 60 and _is_command(rest) else None


def _is_command(text: str) -> bool:
    words = text.split()
    if words[:1] == ["sudo"]:
        words = words[1:]
        return bool(words)
    while words and re.fullmatch(r"[A-Z_][A-Z0-9_]*=\S*", words[0]):
        words = words[1:]
    if len(words) < 2:
        return False
    program, second = words[0].rsplit("/", 1)[-1], words[1]
    if program in SUBCOMMANDS:
        return second in SUBCOMMANDS[program] or second.startswith("-")
    return program in PROGRAMS and any(_looks_like_argument(word) for word in words[1:])


def _looks_like_argument(word: str) -> bool:
    return word.startswith(("-", "'", '"', "$", "./", "~", "|", ">", "&&")) or bool(
        "/" in word or re.fullmatch(r"\d+|[\w-]+\.[a-z]{1,5}|[\w.-]+@[\w.-]+|\|", word)
    )


def _run(row: MessageRow) -> Iterator[Item]:
    """The commands that a message had a tool run."""
    for call in calls_of(row):
        if _SHELL_TOOLS.search(str(call.get("name") or "")):
            command = _argument(call)
            if command:
                yield Item("command", command[:LONGEST])


def _named(row: MessageRow) -> Iterator[Item]:
    """The files and addresses that a message named to its tools, whatever the tool."""
    for call in calls_of(row):
        arguments = arguments_of(call)
        named = arguments.items() if isinstance(arguments, dict) else [("", arguments)]
        for name, value in named:
            if not isinstance(value, str) or "\n" in value or len(value) > LONGEST:
                continue
            if _PATH_ARGUMENT.fullmatch(name) and value.strip() and not _URL.match(value):
                yield Item("path", value.strip())
            else:
                yield from _places(value)


def _argument(call: dict[str, Any]) -> str | None:
    arguments = arguments_of(call)
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return None
    command = arguments.get("command", arguments.get("cmd"))
    return " ".join(map(str, command)) if isinstance(command, list) else command if isinstance(command, str) else None


# --- statements ---


def _statements(prose: str) -> Iterator[Item]:
    for sentence in _sentences(prose):
        lowered = sentence[:LOOKED_AT_ONCE].lower()
        if (_MARK.search(sentence) or _cued("TODO", lowered)) and not _cued("DONE", lowered):
            yield Item("todo", sentence[:LONGEST])
        elif _cued("DECISION", lowered) and not _cued("UNDECIDED", lowered):
            yield Item("decision", sentence[:LONGEST])


def _sentences(prose: str) -> Iterator[str]:
    for found in _SENTENCE_END.split(prose):
        sentence = found.strip().lstrip("#>").strip()
        if len(sentence) > 3:
            yield sentence


def _cued(name: str, lowered: str) -> bool:
    spaced, unspaced = _patterns(name)
    return bool(spaced.search(lowered) or (not lowered.isascii() and unspaced.search(lowered)))


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    begins, words, unspaced = getattr(cues, name)
    # What all cues begin with stands before them once: thirty of them, each tried at every letter, take a millisecond.
    return re.compile(rf"^(?:{'|'.join(begins)})|\b(?:{'|'.join(words)})"), re.compile("|".join(unspaced))
