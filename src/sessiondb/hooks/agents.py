"""What an installation changes for each agent, as files before and after.

Three things each: the MCP server, the skill `recall`, and a note at the end of every turn. Entries of other people
are left alone; an entry of our name that we did not write stops the installation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import Conflict, Invalid
from ..tools.guidance import SKILL
from . import blocks, capture, jsonc
from .changes import Change, read

NAME = "sessiondb"
CAPTURE = "sessiondb-capture"
WRITTEN = "<!-- Written by `sessiondb hook install`; `sessiondb hook remove` deletes it. -->\n"
_SECONDS = 5

Edit = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Setting:
    """One file of an agent's, how ours gets into it and out of it."""

    path: Path
    what: str
    put: Edit
    take: Edit
    # What the file is like without anything.
    empty: str = "{}\n"
    owned: bool = False
    executable: bool = False

    @property
    def present(self) -> bool:
        text = read(self.path)
        return text is not None and self.edited(self.take, text) != text

    def edited(self, edit: Edit, text: str) -> str:
        """The text after an edit; a file without a word is as one that holds nothing yet. Raises Invalid."""
        try:
            after = edit(text if text.strip() else self.empty)
        except Invalid as exc:
            raise Invalid(f"{self.path}: {exc}") from exc
        return text if after == self.empty and not text.strip() else after


@dataclass(frozen=True, slots=True)
class Setup:
    """Where things are on this machine."""

    home: Path
    env: Mapping[str, str]
    # Of sessiondb: its own directory, and the command that begins it.
    own: Path
    program: Sequence[str]

    @property
    def spool(self) -> Path:
        return self.own / "spool" / "events"

    @property
    def capture(self) -> Path:
        return self.own / "hooks" / CAPTURE

    def directory(self, variable: str, *default: str) -> Path:
        named = self.env.get(variable)
        return Path(named).expanduser() if named else self.home.joinpath(*default)


def claude_code(setup: Setup) -> Iterator[Setting]:
    named = setup.env.get("CLAUDE_CONFIG_DIR")
    place = Path(named).expanduser() if named else setup.home / ".claude"
    servers = place / ".claude.json" if named else setup.home / ".claude.json"
    yield _mcp(servers, ["mcpServers", NAME], {"type": "stdio", **_started(setup)})
    yield _hooks(place / "settings.json", ("Stop", "SessionEnd"), setup, "claude-code", _SECONDS)
    yield _skill(place / "skills")
    yield _program(setup)


def codex(setup: Setup) -> Iterator[Setting]:
    place = setup.directory("CODEX_HOME", ".codex")
    started = _started(setup)
    lines = f"[mcp_servers.{NAME}]\ncommand = {json.dumps(started['command'])}\nargs = {json.dumps(started['args'])}"
    yield _toml_block(place / "config.toml", lines)
    yield _hooks(place / "hooks.json", ("Stop",), setup, "codex", _SECONDS)
    yield _skill(place / "skills")
    yield _program(setup)


def gemini(setup: Setup) -> Iterator[Setting]:
    place = setup.directory("GEMINI_CLI_HOME", ".").joinpath(".gemini")
    yield _mcp(place / "settings.json", ["mcpServers", NAME], _started(setup))
    # Gemini counts in milliseconds.
    yield _hooks(place / "settings.json", ("AfterAgent", "SessionEnd"), setup, "gemini", _SECONDS * 1000)
    yield _skill(place / "skills")
    yield _program(setup)


def opencode(setup: Setup) -> Iterator[Setting]:
    place = setup.directory("XDG_CONFIG_HOME", ".config") / "opencode"
    settings = next((place / name for name in ("opencode.jsonc", "opencode.json") if (place / name).exists()), None)
    entry = {"type": "local", "command": [*setup.program, "mcp"], "enabled": True}
    yield _mcp(settings or place / "opencode.json", ["mcp", NAME], entry)
    yield _own_file(place / "plugins" / f"{NAME}.js", "capture", capture.javascript(setup.spool))
    yield _skill(place / "skills")


AGENTS: dict[str, Callable[[Setup], Iterator[Setting]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
}


def settings(agent: str, setup: Setup) -> list[Setting]:
    if agent not in AGENTS:
        raise Invalid(f"no settings of {agent!r} are known; known agents: {', '.join(AGENTS)}")
    return list(AGENTS[agent](setup))


def installation(agent: str, setup: Setup) -> list[Change]:
    """What an installation would write; nothing when all is there."""
    return _changes(settings(agent, setup), lambda setting: setting.put)


def removal(agent: str, setup: Setup) -> list[Change]:
    """What has to be written that nothing of ours is left; a program that other agents run stays."""
    shared = {setting.path for other in AGENTS if other != agent for setting in _noting(other, setup)}
    own = [setting for setting in settings(agent, setup) if setting.path not in shared]
    return _changes(own, lambda setting: setting.take)


def _noting(agent: str, setup: Setup) -> Iterator[Setting]:
    """The program that notes for an agent, if it is installed there."""
    there = settings(agent, setup)
    if any(setting.what == "capture" and setting.present for setting in there):
        yield from (setting for setting in there if setting.path == setup.capture)


def _changes(chosen: Sequence[Setting], edit: Callable[[Setting], Edit]) -> list[Change]:
    """Each edit on the text that the one before left: two may concern one file."""
    found: dict[Path, Change] = {}
    for setting in chosen:
        before = found[setting.path].before if setting.path in found else read(setting.path)
        text = found[setting.path].after if setting.path in found else before
        after: str | None = setting.edited(edit(setting), setting.empty if text is None else text)
        change = Change(setting.path, before, after, setting.owned, setting.executable)
        # A file that was not there before us does not stay behind us.
        if after == setting.empty and (before is None or setting.owned or not change.backup.exists()):
            change = replace(change, after=None)
        found[setting.path] = change
    return [change for change in found.values() if change.before != change.after]


# --- the parts ---


def _started(setup: Setup) -> dict[str, Any]:
    command, *rest = setup.program
    return {"command": command, "args": [*rest, "mcp"]}


def _mcp(path: Path, place: list[str], entry: Mapping[str, Any]) -> Setting:
    def put(text: str) -> str:
        there = _under(text, place)
        if there is not None and not _is_ours(there):
            raise Conflict(f"{path} has an entry {'.'.join(place)} that sessiondb did not write; remove it first")
        return text if there == entry else jsonc.with_member(text, place, entry)

    def take(text: str) -> str:
        return jsonc.without_member(text, place)

    return Setting(path, "MCP server", put, take)


def _under(text: str, path: Sequence[str]) -> Any:
    """The value under these names; None where there is none."""
    there = jsonc.value(text)
    for name in path:
        there = there.get(name) if isinstance(there, dict) else None
    return there


def _is_ours(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    words = [*(command if isinstance(command, list) else [command]), *(entry.get("args") or [])] if command else []
    return words[-1:] == ["mcp"] and any(NAME in str(word) for word in words)


def _toml_block(path: Path, lines: str) -> Setting:
    def put(text: str) -> str:
        return _with_server(path, text, lines)

    return Setting(path, "MCP server", put, blocks.without_block, empty="")


def _with_server(path: Path, text: str, lines: str) -> str:
    import tomllib

    bare = blocks.without_block(text)
    try:
        servers = tomllib.loads(bare).get("mcp_servers", {})
        if NAME in servers:
            raise Conflict(f"{path} has an entry mcp_servers.{NAME} that sessiondb did not write; remove it first")
        edited = blocks.with_block(text, lines)
        tomllib.loads(edited)
    except tomllib.TOMLDecodeError as exc:
        raise Conflict(f"{path} cannot be edited: {exc}; put it right first") from exc
    return edited


def _hooks(path: Path, events: Sequence[str], setup: Setup, agent: str, timeout: int) -> Setting:
    import shlex

    command = f"sh {shlex.quote(str(setup.capture))} {agent}"
    entry = {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}

    def ours(group: Any) -> bool:
        commands = [each.get("command", "") for each in group.get("hooks", [])] if isinstance(group, dict) else []
        return bool(commands) and all(CAPTURE in each for each in commands)

    def put(text: str) -> str:
        for event in events:
            known = _under(text, ["hooks", event])
            if not isinstance(known, list) or entry not in known:
                text = jsonc.with_element(jsonc.without_elements(text, ["hooks", event], ours), ["hooks", event], entry)
        return text

    def take(text: str) -> str:
        for event in events:
            text = jsonc.without_elements(text, ["hooks", event], ours)
        return text

    return Setting(path, "capture", put, take)


def _skill(skills: Path) -> Setting:
    head, front, body = SKILL.partition("---\n\n")
    return _own_file(skills / "recall" / "SKILL.md", "skill", head + front + WRITTEN + "\n" + body)


def _program(setup: Setup) -> Setting:
    return _own_file(setup.capture, "capture program", capture.shell(setup.spool), executable=True)


def _own_file(path: Path, what: str, text: str, *, executable: bool = False) -> Setting:
    def is_ours(there: str) -> bool:
        return "`sessiondb hook remove`" in there

    def put(there: str) -> str:
        if there and not is_ours(there):
            raise Conflict(f"{path} is there and sessiondb did not write it; move it away first")
        return text

    def take(there: str) -> str:
        return "" if is_ours(there) else there

    return Setting(path, what, put, take, empty="", owned=True, executable=executable)
