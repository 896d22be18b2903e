"""OpenClaw: `~/.openclaw/agents/<agent>/sessions/<id>.jsonl`, in the form of pi, on which it is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from . import packed, pi_sessions
from .base import Record
from .source import Source

NAME = "openclaw"


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    named = env.get("OPENCLAW_STATE_DIR")
    return [Path(named).expanduser() if named else home / ".openclaw"]


def find(root: Path) -> Iterator[Path]:
    yield from packed.beside(root, "agents/*/sessions/*.jsonl")


def is_inside(path: Path) -> bool:
    """Only its place tells a session of OpenClaw from one of pi."""
    return any(part.lstrip(".") == NAME for part in path.absolute().parts[:-1])


def detect(path: Path, head: bytes) -> bool:
    return path.suffix == ".jsonl" and pi_sessions.has_header(head) and is_inside(path)


def read(source: Source) -> Iterator[Record]:
    return pi_sessions.read(source, NAME)
