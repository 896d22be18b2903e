"""Claude Code: `~/.claude/projects/<project>/<session>.jsonl`, and `agent-*.jsonl` of its subagents.

One response of the model is spread over several lines with the same message id, each with the usage so far: the lines
become one message, and its usage counts once. Lines of subagents (sidechains) become sessions of their own, as do the
sessions of other ids that one file may hold. Records copied by a fork are kept but neither count as typed by a person
nor towards the usage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import packed
from .base import Record
from .claude_sessions import Transcript, summaries_digest
from .source import Source, first_objects
from .texts import words_of

NAME = "claude-code"
# Prompt history and the log of a workflow: no transcripts.
_NO_TRANSCRIPTS = frozenset({"history.jsonl", "journal.jsonl"})
_CONVERSATION = frozenset({"user", "assistant", "system", "attachment", "progress"})
_ASIDE = frozenset({"summary", "custom-title", "ai-title", "file-history-snapshot", "queue-operation", "last-prompt"})


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    named = env.get("CLAUDE_CONFIG_DIRS") or env.get("CLAUDE_CONFIG_DIR")
    if named:
        return [Path(name.strip()).expanduser() / "projects" for name in named.split(",") if name.strip()]
    return [home / ".claude" / "projects", home / ".config" / "claude" / "projects"]


def find(root: Path) -> Iterator[Path]:
    return (path for path in packed.beside(root, "**/*.jsonl") if packed.plain_name(path).name not in _NO_TRANSCRIPTS)


def beside(path: Path) -> str | None:
    """The names that older versions gave to conversations, in the files of later ones."""
    return summaries_digest(path.parent)


def detect(path: Path, head: bytes) -> bool:
    if path.suffix != ".jsonl" or path.name in _NO_TRANSCRIPTS:
        return False
    return any(_is_ours(record) for record in first_objects(head))


def _is_ours(record: dict[str, Any]) -> bool:
    kind, message = words_of(record.get("type")), record.get("message")
    if isinstance(message, dict) and "parts" in message:
        return False
    if kind in _CONVERSATION:
        return "uuid" in record and "sessionId" in record
    return kind in _ASIDE and any(name in record for name in ("sessionId", "leafUuid", "messageId"))


def read(source: Source) -> Iterator[Record]:
    transcript = Transcript(source)
    yield from source.each(transcript.records)
    yield from transcript.rest()
