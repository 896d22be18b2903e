"""How other agents take up a conversation of theirs, by the name their sessions are imported under (`origin`)."""

from __future__ import annotations

from . import registry
from .errors import Invalid
from .models import SessionRow
from .values import dataclass

# One line per agent; `{id}` is the agent's own name of the session (`native_id`). A parser of another distribution
# brings its line as an attribute RESUME.
RESUME = {
    "claude-code": "claude --resume {id}",
    "codex": "codex resume {id}",
    "copilot-cli": "copilot --resume {id}",
    "cursor": "cursor-agent --resume {id}",
    "gemini-cli": "gemini --resume {id}",
    "hermes": "hermes --resume {id}",
    "kimi-code": "kimi --session {id}",
    "opencode": "opencode --session {id}",
    "qwen-code": "qwen --resume {id}",
}
# Under which other names the same agents are known.
SAME = {
    "claude": "claude-code", "copilot": "copilot-cli", "gemini": "gemini-cli", "hermes-agent": "hermes",
    "kimi": "kimi-code", "qwen": "qwen-code",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Resumption:
    """The program that goes on with a conversation, and where it must be run."""

    agent: str
    command: tuple[str, ...]
    cwd: str | None

    @property
    def line(self) -> str:
        """For a shell."""
        import shlex

        directory = f"cd {shlex.quote(self.cwd)} && " if self.cwd else ""
        return directory + shlex.join(self.command)


def resumption(session: SessionRow) -> Resumption | None:
    """How the agent a session came from goes on with it; None for our own, and for agents that cannot.

    Raises Invalid for an id that the agent would take for an option.
    """
    agent, native = session["origin"], session["native_id"]
    spoken = _spoken(agent) if agent and native else None
    if agent is None or native is None or spoken is None:
        return None
    if native.startswith("-") or not native.isprintable():
        raise Invalid(
            f"session {session['id']!r} has the id {native!r} at {agent}, which is no id to hand to a program"
        )
    # The talk of a subagent has no id alone (Claude Code, Kimi): `<name>:<session>` is taken up where it was begun.
    inside = session["relation"] == "subagent" or native.startswith(("agent-", "side-"))
    named = native.partition(":")[2] or native if inside else native
    command = tuple(part.replace("{id}", named) for part in spoken.split())
    return Resumption(agent, command, session["cwd"])


def _spoken(agent: str) -> str | None:
    known = RESUME.get(SAME.get(agent, agent))
    if known is not None or "importers" not in registry.TABLES or not registry.has("importers", agent):
        return known
    brought: str | None = getattr(registry.load("importers", agent), "RESUME", None)
    return brought
