"""Where the fixtures are, and how to read them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sessiondb import registry
from sessiondb.importers import claude_code, codex, gemini, opencode

from .counts import claude_code as count_claude_code
from .counts import codex as count_codex
from .counts import gemini_cli as count_gemini
from .counts import opencode as count_opencode
from .parsed import Parsed

FIXTURES = Path(__file__).parent / "fixtures"
# Where the tree of a fixture is more than what the agent's own rules name.
_BELOW = {
    "copilot-cli": "session-state", "kimi-code": "sessions", "openclaw": ".openclaw", "pi": "sessions",
    "qwen-code": "projects",
}  # fmt: skip
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
# Those whose fixtures lie in a directory of their name; the databases of others are made by `stores`.
for _agent in (
    "aider", "chatgpt", "claude-ai", "cline", "copilot-cli", "cursor", "grok", "kimi-code", "open-webui", "openclaw",
    "pi", "qwen-code", "roo-code",
):  # fmt: skip
    _counts = import_module(f"{__package__}.counts.{_agent.replace('-', '_')}")
    AGENTS[_agent] = (registry.load("importers", _agent), _counts, FIXTURES / _agent / _BELOW.get(_agent, ""))


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
