"""`sessiondb hook`"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Invalid
from . import answers, consent, ink, options, output
from .table import Column, show

if TYPE_CHECKING:
    from ..hooks.agents import Setup
    from ..hooks.changes import Change

_ACTIONS = ("install", "remove", "status")
_AFTERWARDS = {
    "codex": "Codex asks you to trust the hook when it starts next.",
}


@options.command("hook")
@options.words("action", metavar="install|remove|status")
@options.words("agents", metavar="[AGENT]...", many=True, required=False)
@consent.yes
@options.answers
@options.common
def command(action: str, agents: Sequence[str], yes: bool, form: answers.Form) -> None:
    """Plug recall into an agent, take it out again, or see what is there.

    AGENT is claude-code, codex, gemini or opencode. An installation registers the MCP server, adds a skill that says
    when to recall, and has the agent note at the end of each turn which conversation went on; the next sessiondb
    command brings that in. The changes are shown first, and it asks; a backup is kept beside each file.

    \b
    Example:
        sessiondb hook status
        sessiondb hook install claude-code --yes
        sessiondb hook remove claude-code --yes
    """
    from ..hooks.agents import AGENTS

    if action not in _ACTIONS:
        raise Invalid(f"unknown action {action!r}; use one of {', '.join(_ACTIONS)}")
    if action == "status":
        _tell_status(list(agents) or list(AGENTS), form)
        return
    if not agents:
        raise Invalid(f"name an agent: {', '.join(AGENTS)}")
    if form:
        raise Invalid("--json is for `hook status`")
    for agent in agents:
        _change(agent, _setup(), install=action == "install", yes=yes)


def _setup() -> Setup:
    from ..config import home_directory
    from ..hooks.agents import Setup

    home = Path(os.path.expanduser("~"))
    return Setup(home, os.environ, Path(home_directory(os.environ)), _program())


def _program() -> Sequence[str]:
    """How an agent that knows no PATH of ours begins sessiondb."""
    beside = Path(sys.executable).with_name("sessiondb")
    found = str(beside) if beside.exists() else shutil.which("sessiondb")
    return [found] if found else [sys.executable, "-m", "sessiondb"]


def _change(agent: str, setup: Setup, *, install: bool, yes: bool) -> None:
    from ..hooks import agents, changes

    wanted = (agents.installation if install else agents.removal)(agent, setup)
    if not wanted:
        output.say(f"{agent}: " + ("all is in place." if install else "nothing of sessiondb is there."))
        return
    _show(wanted)
    consent.require(f"Change {output.count(len(wanted), 'file')} for {agent}?", yes=yes)
    changes.write(wanted, back_up=install)
    output.say(f"{agent}: {'installed' if install else 'removed'}.")
    if install and agent in _AFTERWARDS:
        output.say(_AFTERWARDS[agent])


def _show(wanted: Sequence[Change]) -> None:
    from ..hooks.changes import differences

    colours = {"+": ink.green, "-": ink.red, "@": ink.cyan}
    for each in differences(wanted):
        paint = colours.get(each[:1])
        output.say(paint(each) if paint and not each.startswith(("+++", "---")) else each)


def _tell_status(agents: Sequence[str], form: answers.Form) -> None:
    from ..hooks.agents import settings

    setup = _setup()
    rows: list[dict[str, Any]] = [
        {"agent": agent, "part": each.what, "installed": each.present, "path": str(each.path)}
        for agent in agents
        for each in settings(agent, setup)
    ]
    if form:
        answers.give(form, "hook", {"parts": rows}, records="parts")
        return
    columns = [Column("Agent", style=ink.cyan), Column("Part"), Column("Installed"), Column("Path", share=1, least=12)]
    show(columns, [[row["agent"], row["part"], "yes" if row["installed"] else "no", row["path"]] for row in rows])
