"""Libraries from PyPI, each in a virtualenv of its own that is made on first use."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .arena import ROOT, Contestant

HOME = ROOT / "benchmarks" / ".peers"
INSTALL_SECONDS = 600
WRITES = ("append", "append-agent")


class PeerUnavailable(Exception):
    """A library cannot be installed or does not start."""


@dataclass(frozen=True, slots=True)
class Peer:
    """`module`: its contender; `probe`: what it must be able to import; `does` and `most`: see Contestant."""

    name: str
    version: str
    module: str
    probe: str
    does: tuple[str, ...] = ()
    most: int = sys.maxsize
    more: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def home(self) -> Path:
        return HOME / f"{self.name}-{self.version}"

    def contestant(self, data: Path, *arguments: str, label: str = "") -> Contestant:
        """Ready to start, with a home for what it keeps beside the store. Raises PeerUnavailable."""
        return Contestant(
            label or self.label,
            installed(self),
            f"benchmarks.contenders.{self.module}",
            arguments,
            is_peer=True,
            environment={**homes(data), "PYTHONPATH": str(ROOT)},
            does=frozenset(self.does),
            most=self.most,
        )


HERMES = Peer("hermes-agent", "0.19.0", "peer", "hermes_state")
# Whoever has no way to bring in whole conversations needs hours for long histories.
OTHERS = (
    Peer("openai-agents", "0.24.0", "openai_agents", "agents", (*WRITES, "import", "load"), most=100_000),
    Peer("google-adk", "2.13.0", "google_adk", "google.adk.sessions", (*WRITES, "load", "list"), most=10_000),
    Peer("agno", "3.1.10", "agno_db", "agno.db.sqlite", (*WRITES, "import", "load", "list"), most=100_000,
         more=("sqlalchemy", "greenlet")),
    Peer("langgraph-checkpoint-sqlite", "3.1.2", "langgraph_sqlite", "langgraph.checkpoint.sqlite",
         (*WRITES, "import", "load"), most=100_000),
    Peer("llm", "0.36", "llm_logs", "llm.cli", (*WRITES, "load", "search"), most=10_000),
)  # fmt: skip


def homes(data: Path) -> dict[str, str]:
    """Where the libraries keep what is not in the store; and nothing of theirs speaks to the network."""
    quiet = {"AGNO_TELEMETRY": "false", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    return {"HERMES_HOME": str(data), "LLM_USER_PATH": str(data), **quiet}


def _run(peer: Peer, *command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS, cwd=peer.home)


def _install(peer: Peer) -> None:
    python = str(peer.home / "bin" / "python")
    peer.home.mkdir(parents=True, exist_ok=True)
    _run(peer, sys.executable, "-m", "venv", "--clear", str(peer.home))
    _run(peer, python, "-m", "pip", "install", "--quiet", f"{peer.name}=={peer.version}", *peer.more)
    _run(peer, python, "-c", f"import {peer.probe}")


def installed(peer: Peer) -> str:
    """The Python of the library's virtualenv. Raises PeerUnavailable."""
    stamp = peer.home / ".installed"
    try:
        if not stamp.exists():
            _install(peer)
            stamp.touch()
    except subprocess.CalledProcessError as exc:
        reason = (exc.stderr or exc.stdout or "").strip().splitlines()[-1:] or [f"exit code {exc.returncode}"]
        raise PeerUnavailable(f"{peer.label} is not available: {reason[0]}") from exc
    except subprocess.TimeoutExpired as exc:
        raise PeerUnavailable(f"{peer.label} is not available: no end after {exc.timeout:.0f} seconds") from exc
    except OSError as exc:
        # Without the path: notes are published.
        raise PeerUnavailable(f"{peer.label} is not available: {exc.strerror}") from exc
    return str(peer.home / "bin" / "python")
