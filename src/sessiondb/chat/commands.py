"""Slash commands: one registry for the terminal and for chats. `obey` is all that a host calls.

A command acts on a desk (desk.py) and sees what the desk's scope shows, nothing else. A line that begins with a slash
and a word is a command; `/etc/hosts` is none, and so is what was never ours, such as `/search` unless config.yaml says.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import SessionDBError
from . import keeping, looking
from . import settings as settings_of
from .desk import Desk, Outcome

if TYPE_CHECKING:
    from .loop import Agent

Handler = Callable[[Desk, str, "Agent | None"], Outcome]
# Chats with several programs write /title@name.
_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:@\w+)?(?:\s+(.*))?", re.DOTALL)
SEARCH = "search"


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    arguments: str
    help: str
    run: Handler
    aliases: tuple[str, ...] = ()


def _help(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    rows = [(f"/{each.name} {each.arguments}".rstrip(), _told(each)) for each in COMMANDS]
    room = max(len(usage) for usage, _ in rows)
    return Outcome("\n".join(f"{usage:<{room}}  {told}" for usage, told in rows))


def _told(command: Command) -> str:
    also = f" Also {', '.join('/' + alias for alias in command.aliases)}." if command.aliases else ""
    return command.help + also


def _quit(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    return Outcome("", leave=True)


COMMANDS = (
    Command("new", "", "Begin anew; session and transcript go into the archive.", keeping.new),
    Command("reset", "", "Begin anew; the session stays in the list.", keeping.reset),
    Command("title", "[TITLE]", "Name this session, or show its name.", keeping.title),
    Command("sessions", "", "Your sessions, the last active first.", looking.sessions),
    Command("history", "WORDS", "Search what was said before.", looking.history),
    Command("resume", "[NAME]", "Go on in an earlier session, by title or id.", keeping.resume),
    Command("compress", "", "Go on with a summary of the conversation.", keeping.compressed, ("compact",)),
    Command("usage", "", "Tokens and costs of this conversation.", looking.usage),
    Command("export", "[FORMAT]", "This conversation as a file: markdown, html, jsonl, openai.", looking.export),
    Command("undo", "", "Take back the last question and its answer.", keeping.undo),
    Command("retry", "", "Ask the last question again.", keeping.retry),
    Command("fork", "[TITLE]", "Go on in a copy; the original stays as it is.", keeping.fork),
    Command("recap", "", "How the conversation went, in short.", looking.recapped),
    Command("help", "", "These commands.", _help),
    Command("quit", "", "Leave, where there is something to leave.", _quit, ("exit",)),
)  # fmt: skip
_BY_NAME = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


def names() -> list[str]:
    """All names and aliases, as they are typed."""
    return [f"/{name}" for name in _BY_NAME]


def obey(line: str, desk: Desk, agent: Agent | None = None) -> Outcome | None:
    """What a command answers; None for a line that is no command. What goes wrong is answered, not raised."""
    found = _COMMAND.fullmatch(line.strip())
    if found is None:
        return None
    name, words = found[1].lower(), (found[2] or "").strip()
    if name == SEARCH:
        settings = agent.settings if agent is not None else settings_of.load()
        if settings.search_command is None:
            return None
        name = settings.search_command
    command = _BY_NAME.get(name)
    if command is None:
        return Outcome(_unknown(name))
    try:
        return command.run(desk, words, agent)
    except SessionDBError as exc:
        return Outcome(_sentence(str(exc)))


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, _BY_NAME, 1, 0.6)
    meant = f" Did you mean /{near[0]}?" if near else ""
    return f"There is no command /{name}.{meant} /help lists them all."


def _sentence(text: str) -> str:
    """With a capital and a full stop, as a person would say it."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")
