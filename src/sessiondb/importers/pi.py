"""pi: `~/.pi/agent/sessions/--<directory>--/<time>_<id>.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from . import openclaw, packed, pi_sessions
from .base import Record
from .source import Source

NAME = "pi"


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    named = env.get("PI_CODING_AGENT_DIR")
    return [(Path(named).expanduser() if named else home / ".pi" / "agent") / "sessions"]


def find(root: Path) -> Iterator[Path]:
    yield from packed.beside(root, "**/*.jsonl")


def detect(path: Path, head: bytes) -> bool:
    return path.suffix == ".jsonl" and pi_sessions.has_header(head) and not openclaw.is_inside(path)


def read(source: Source) -> Iterator[Record]:
    return pi_sessions.read(source, NAME)
