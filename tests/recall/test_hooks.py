"""Recall is plugged into agents and taken out again; what they note is brought in by the next command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.errors import Conflict, Invalid, Unavailable
from sessiondb.hooks import agents, changes, jsonc, spool

CLAUDE_SETTINGS = """{
  "model": "opus",
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "notify-send done" }] }
    ],
    "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "~/bin/guard" }] }]
  },
  "permissions": { "allow": ["Bash(git status:*)"] }
}
"""
CLAUDE_STATE = (
    '{"numStartups": 34, "projects": {"/srv/shop": {"mcpServers": {}}}, "mcpServers": {"db": {"command": "x"}}}'
)
CODEX = """# My settings
model = "gpt-5"
notify = ["python3", "/home/me/notify.py"]

[mcp_servers.files]
command = "npx" # the usual
args = ["-y", "files"]
"""
GEMINI = """{
  // Colours
  "ui": { "theme": "GitHub" },
  "mcpServers": {
    "files": { "command": "npx" }, // keep this
  },
}
"""
OPENCODE = """{
  "$schema": "https://opencode.ai/config.json",
  "mcp": { "files": { "type": "local", "command": ["npx", "files"] } }
}"""
SETTINGS = {
    "claude-code": {".claude/settings.json": CLAUDE_SETTINGS, ".claude.json": CLAUDE_STATE},
    "codex": {".codex/config.toml": CODEX},
    "gemini": {".gemini/settings.json": GEMINI},
    "opencode": {".config/opencode/opencode.jsonc": OPENCODE},
}


@pytest.fixture
def setup(tmp_path: Path) -> agents.Setup:
    home = tmp_path / "home"
    home.mkdir()
    return agents.Setup(home, {}, home / "own place", ["/opt/bin/sessiondb"])


def lay_out(setup: agents.Setup, agent: str) -> dict[Path, str]:
    files = {setup.home / name: text for name, text in SETTINGS[agent].items()}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return files


def install(setup: agents.Setup, agent: str) -> None:
    changes.write(agents.installation(agent, setup), back_up=True)


def remove(setup: agents.Setup, agent: str) -> None:
    changes.write(agents.removal(agent, setup), back_up=False)


def files_of(setup: agents.Setup) -> dict[Path, str]:
    found = (path for path in setup.home.rglob("*") if path.is_file() and not path.name.endswith(changes.BACKUP))
    return {path: path.read_text() for path in found}


@pytest.mark.parametrize("agent", agents.AGENTS)
class TestEveryAgent:
    def test_an_installation_is_undone_to_the_byte(self, setup: agents.Setup, agent: str) -> None:
        before = lay_out(setup, agent)
        install(setup, agent)
        assert all(part.present for part in agents.settings(agent, setup))
        remove(setup, agent)
        assert files_of(setup) == before
        assert not any(part.present for part in agents.settings(agent, setup))

    def test_without_settings_of_its_own_nothing_stays_behind(self, setup: agents.Setup, agent: str) -> None:
        install(setup, agent)
        remove(setup, agent)
        assert files_of(setup) == {}

    def test_a_second_installation_changes_nothing(self, setup: agents.Setup, agent: str) -> None:
        lay_out(setup, agent)
        install(setup, agent)
        assert agents.installation(agent, setup) == []

    def test_an_edit_only_adds(self, setup: agents.Setup, agent: str) -> None:
        before = lay_out(setup, agent)
        install(setup, agent)
        for path, text in before.items():
            kept = iter(path.read_text())
            assert all(letter in kept for letter in text)

    def test_a_backup_is_what_was_there(self, setup: agents.Setup, agent: str) -> None:
        before = lay_out(setup, agent)
        install(setup, agent)
        for path, text in before.items():
            assert path.with_name(path.name + changes.BACKUP).read_text() == text

    def test_a_new_place_of_the_program_replaces_the_old_one(self, setup: agents.Setup, agent: str) -> None:
        before = lay_out(setup, agent)
        install(setup, agent)
        moved = agents.Setup(setup.home, {}, setup.own, ["/usr/local/bin/sessiondb"])
        assert agents.installation(agent, moved)
        install(moved, agent)
        assert not any("/opt/bin/sessiondb" in text for text in files_of(setup).values())
        remove(moved, agent)
        assert files_of(setup) == before


class TestRefusals:
    def test_an_entry_of_our_name_by_others_stops_it(self, setup: agents.Setup) -> None:
        path = setup.home / ".claude.json"
        path.write_text('{"mcpServers": {"sessiondb": {"url": "https://example.org"}}}')
        with pytest.raises(Conflict, match="did not write"):
            agents.installation("claude-code", setup)

    def test_the_same_in_toml(self, setup: agents.Setup) -> None:
        lay_out(setup, "codex")
        with (setup.home / ".codex/config.toml").open("a") as file:
            file.write('[mcp_servers.sessiondb]\ncommand = "mine"\n')
        with pytest.raises(Conflict, match="did not write"):
            agents.installation("codex", setup)

    def test_a_skill_by_others_stops_it(self, setup: agents.Setup) -> None:
        skill = setup.home / ".claude/skills/recall/SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text("mine")
        with pytest.raises(Conflict, match="move it away"):
            agents.installation("claude-code", setup)
        remove(setup, "claude-code")
        assert skill.read_text() == "mine"

    def test_broken_settings_are_left_alone(self, setup: agents.Setup) -> None:
        (setup.home / ".claude.json").write_text('{"a": ')
        with pytest.raises(Invalid, match=r"\.claude\.json: broken JSON"):
            agents.installation("claude-code", setup)

    @pytest.mark.parametrize("text", ['{"hooks": null}', '{"hooks": []}', '{"mcpServers": []}', "[]"])
    def test_settings_of_another_shape_are_left_alone(self, setup: agents.Setup, text: str) -> None:
        settings = setup.home / ".gemini/settings.json"
        settings.parent.mkdir()
        settings.write_text(text)
        with pytest.raises(Invalid, match=r"settings\.json: "):
            agents.installation("gemini", setup)
        assert agents.removal("gemini", setup) == []

    def test_an_empty_file_holds_nothing_yet(self, setup: agents.Setup) -> None:
        settings = setup.home / ".gemini/settings.json"
        settings.parent.mkdir()
        settings.write_text("\n")
        assert agents.removal("gemini", setup) == []
        install(setup, "gemini")
        assert "mcpServers" in settings.read_text()
        remove(setup, "gemini")
        assert settings.read_text() == "{}\n"

    def test_a_file_that_changed_since_it_was_shown_is_left_alone(self, setup: agents.Setup) -> None:
        lay_out(setup, "codex")
        wanted = agents.installation("codex", setup)
        (setup.home / ".codex/config.toml").write_text("other = 1\n")
        with pytest.raises(Conflict, match="meanwhile"):
            changes.write(wanted, back_up=True)
        assert (setup.home / ".codex/config.toml").read_text() == "other = 1\n"

    def test_a_directory_in_the_place_of_a_file_is_told(self, setup: agents.Setup) -> None:
        (setup.home / ".claude.json").mkdir()
        with pytest.raises(Unavailable, match="cannot be read"):
            agents.installation("claude-code", setup)

    def test_an_unknown_agent_gets_the_known_ones(self, setup: agents.Setup) -> None:
        with pytest.raises(Invalid, match="claude-code, codex, gemini, opencode"):
            agents.settings("notepad", setup)


def test_a_link_to_settings_elsewhere_stays_a_link(setup: agents.Setup) -> None:
    real = setup.home / "dotfiles.json"
    real.write_text(CLAUDE_STATE)
    (setup.home / ".claude.json").symlink_to(real)
    install(setup, "claude-code")
    assert (setup.home / ".claude.json").is_symlink()
    assert "sessiondb" in real.read_text()


def test_the_program_that_two_agents_run_stays_for_the_second(setup: agents.Setup) -> None:
    install(setup, "claude-code")
    install(setup, "codex")
    remove(setup, "claude-code")
    assert setup.capture.exists()
    remove(setup, "codex")
    assert not setup.capture.exists()


def test_places_that_the_environment_names_are_used(setup: agents.Setup) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(setup.home / "c"), "CODEX_HOME": str(setup.home / "x")}
    moved = agents.Setup(setup.home, env, setup.own, setup.program)
    for agent in ("claude-code", "codex"):
        install(moved, agent)
    assert jsonc.value((setup.home / "c/.claude.json").read_text())["mcpServers"]["sessiondb"]
    assert "mcp_servers.sessiondb" in (setup.home / "x/config.toml").read_text()


class TestCapture:
    def note(
        self, setup: agents.Setup, payload: object, agent: str = "claude-code"
    ) -> subprocess.CompletedProcess[str]:
        install(setup, "claude-code")
        given = payload if isinstance(payload, str) else json.dumps(payload)
        return subprocess.run(
            ["sh", setup.capture, agent],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": os.environ["PATH"]},
        )

    def test_ids_and_places_are_noted_and_no_text(self, setup: agents.Setup) -> None:
        said = 'secret, and "transcript_path": "/elsewhere"'
        payload = {
            "session_id": "s",
            "transcript_path": '/tmp/a "b"/ü.jsonl',
            "hook_event_name": "Stop",
            "last_assistant_message": said,
        }
        done = self.note(setup, payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")
        noted = json.loads(setup.spool.read_text())
        assert noted == {
            "session_id": "s",
            "transcript_path": '/tmp/a "b"/ü.jsonl',
            "hook_event_name": "Stop",
            "agent": "claude-code",
        }
        assert setup.spool.stat().st_mode & 0o077 == 0

    @pytest.mark.parametrize("payload", ["", "no json", "{" * 1000, "\x00" * 99])
    def test_nonsense_is_no_trouble(self, setup: agents.Setup, payload: str) -> None:
        done = self.note(setup, payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")


SESSION = "11111111-2222-3333-4444-555555555555"


def transcript(home: Path, *texts: str) -> Path:
    """What Claude Code would have written."""
    path = home / ".claude" / "projects" / "-srv" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    common = {"sessionId": SESSION, "cwd": "/srv", "version": "2.0.0", "timestamp": "2026-01-05T10:00:00Z"}
    lines = [
        {**common, "type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": text}}
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionDB]:
    with SessionDB(tmp_path / "state.db") as db:
        yield db


def write_note(home: Path, **note: object) -> None:
    place = spool.place(str(home))
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("a") as file:
        file.write(json.dumps({"agent": "claude-code", **note}) + "\n")


class TestDrain:
    def test_the_noted_conversation_comes_in_and_goes_on(self, store: SessionDB, tmp_path: Path) -> None:
        for texts in (("the sandbox has port 9191",), ("the sandbox has port 9191", "thanks")):
            write_note(tmp_path, transcript_path=str(transcript(tmp_path, *texts)))
            spool.drain(store, str(tmp_path), {})
            assert [row["content"] for row in store.get_messages(SESSION)] == list(texts)
        assert not list(spool.place(str(tmp_path)).parent.iterdir())

    def test_without_a_path_the_history_of_the_agent_is_looked_through(self, store: SessionDB, tmp_path: Path) -> None:
        transcript(tmp_path, "found anyway")
        write_note(tmp_path, session_id=SESSION)
        spool.drain(store, str(tmp_path), {"HOME": str(tmp_path)})
        assert store.search_messages("found anyway")

    def test_broken_notes_and_files_that_are_gone_are_passed_by(self, store: SessionDB, tmp_path: Path) -> None:
        write_note(tmp_path, transcript_path=str(tmp_path / "gone.jsonl"))
        write_note(tmp_path, agent="unknown")
        with spool.place(str(tmp_path)).open("a") as file:
            file.write('{"agent": "claude-co')
        write_note(tmp_path, transcript_path=str(transcript(tmp_path, "here")))
        report = spool.drain(store, str(tmp_path), {})
        assert report is not None
        assert report.errors == []

    def test_what_fails_is_kept_for_the_next_command(self, store: SessionDB, tmp_path: Path) -> None:
        write_note(tmp_path, transcript_path=str(transcript(tmp_path, "kept")))
        store.close()
        with pytest.raises(Exception, match="closed"):
            spool.drain(store, str(tmp_path), {})
        with SessionDB(tmp_path / "again.db") as db:
            spool.drain(db, str(tmp_path), {})
            assert db.search_messages("kept")

    def test_nothing_noted_is_nothing_to_do(self, store: SessionDB, tmp_path: Path) -> None:
        assert spool.drain(store, str(tmp_path), {}) is None


class TestCommand:
    def run(self, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "SESSIONDB_HOME": str(home / "own")}
        return subprocess.run(
            [sys.executable, "-m", "sessiondb", *arguments],
            env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def test_from_installation_to_search(self, tmp_path: Path) -> None:
        refused = self.run(tmp_path, "hook", "install", "claude-code")
        assert refused.returncode == 2
        assert "+++ " + str(tmp_path / ".claude.json") in refused.stdout
        assert "--yes" in refused.stderr
        assert not (tmp_path / ".claude.json").exists()
        assert self.run(tmp_path, "hook", "install", "claude-code", "--yes").returncode == 0
        path = transcript(tmp_path, "the sandbox has port 9191")
        hooks = jsonc.value((tmp_path / ".claude/settings.json").read_text())["hooks"]
        note = json.dumps({"session_id": SESSION, "transcript_path": str(path), "hook_event_name": "Stop"})
        subprocess.run(
            hooks["Stop"][0]["hooks"][0]["command"],
            shell=True,
            input=note,
            text=True,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        found = self.run(tmp_path, "search", "--json", "sandbox port")
        assert json.loads(found.stdout)["hits"][0]["session_id"] == SESSION
        assert found.stderr == ""

    def test_status_tells_what_is_there(self, tmp_path: Path) -> None:
        told = json.loads(self.run(tmp_path, "hook", "status", "codex", "--json").stdout)
        assert {part["part"]: part["installed"] for part in told["parts"]} == {
            "MCP server": False, "capture": False, "skill": False, "capture program": False
        }  # fmt: skip
