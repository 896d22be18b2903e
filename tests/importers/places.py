"""Where the fixtures are, and how to read them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from sessiondb.importers import claude_code, codex, gemini, opencode

from .counts import claude_code as count_claude_code
from .counts import codex as count_codex
from .counts import gemini_cli as count_gemini
from .counts import opencode as count_opencode
from .parsed import Parsed

FIXTURES = Path(__file__).parent / "fixtures"
CLAUDE = FIXTURES / "claude-code"
CODEX = FIXTURES / "codex"
GEMINI = FIXTURES / "gemini-cli" / "tmp"
OPENCODE = FIXTURES / "opencode"

AGENTS: dict[str, tuple[ModuleType, ModuleType, Path]] = {
    "claude-code": (claude_code, count_claude_code, CLAUDE),
    "codex": (codex, count_codex, CODEX),
    "gemini-cli": (gemini, count_gemini, GEMINI),
    "opencode": (opencode, count_opencode, OPENCODE),
}


def sources(agent: str) -> list[Path]:
    parser, _, root = AGENTS[agent]
    lone = [root / "export.json", root / "run.jsonl"] if agent == "opencode" else []
    return [*parser.find(root), *lone]


def parsed(agent: str, *paths: Path) -> Parsed:
    found = Parsed()
    for path in paths or sources(agent):
        found.read(AGENTS[agent][0], path)
    return found


def heard(found: Parsed, session: str) -> list[tuple[str, Any, bool]]:
    """Role, words, and whether a program put them there."""
    return [(message.role, message.content, message.injected) for message in found.of(session)]
